// Shared by the dataset sources: options, the source object over them, and the search for folders.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/file_path.h"
#include "data/sets/dataset.h"

namespace trainyard {

enum class Split { train, test };
[[nodiscard]] constexpr config::Words<Split> words(Split) { return {"train", "test"}; }

/// Keys that every source has.
struct SourceOptions {
  std::int64_t limit = 0;  // number of samples from the start; 0: all
};
/// Declares `limit`.
void declare_common(config::Fields& fields, SourceOptions& options);

/// A source made from its options and the function that opens them.
template <class Options>
class OptionsSource final : public DatasetSource {
 public:
  using Open = std::unique_ptr<Dataset> (*)(const Options&, const Opening&);
  OptionsSource(std::string_view name, Options options, Open opener)
      : name_(name), options_(std::move(options)), open_(opener) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::unique_ptr<Dataset> open(const Opening& opening) const override {
    return open_(options_, opening);
  }

 private:
  std::string_view name_;
  Options options_;
  Open open_;
};

/// Whether the source of this name has this key next to it.
[[nodiscard]] bool source_takes(std::string_view source, std::string_view key);

/// The path. Throws Error{data} with the flag that selects another one if only that one exists.
[[nodiscard]] const std::filesystem::path& located(const config::FilePath& file);

/// Where a downloaded dataset may be.
struct FolderSearch {
  config::FilePath root;           // as configured
  std::string subfolder;           // the name the archive unpacks to; "" for none
  std::vector<std::string> files;  // at least one of them must exist
  std::string title;               // "CIFAR-10", for the message
  std::string advice;              // how to get the data, for the message
};
/// The first of root/subfolder and root that contains one of `files`. Throws Error{data} with the
/// places searched and the advice.
[[nodiscard]] std::filesystem::path find_data_folder(const FolderSearch& search);

/// The lines of a file of class names, without blank ones. Empty if there is no such file. Throws
/// Error{data} if there are not `classes` of them; 0: any number.
[[nodiscard]] std::vector<std::string> read_class_names(const std::filesystem::path& path,
                                                        std::int64_t classes);

}  // namespace trainyard
