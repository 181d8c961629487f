// What the dataset sources share: options, the source object over them, and finding folders.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/dataset.h"

namespace trainyard {

enum class Split { train, test };
[[nodiscard]] std::span<const config::Word<Split>> words(Split);

/// Keys that every source has.
struct SourceOptions {
  std::int64_t limit = 0;               // the first so many samples; 0: all
  std::filesystem::path config_folder;  // second place for relative paths
};
/// Declares `limit` and notes the folder of the config file.
void declare_common(config::Fields& fields, SourceOptions& options);

/// A source made of its options and the function that opens them.
template <class Options>
class OptionsSource final : public DatasetSource {
 public:
  using Open = std::unique_ptr<Dataset> (*)(const Options&, std::uint64_t seed);
  OptionsSource(std::string_view name, Options options, Open opener)
      : name_(name), options_(std::move(options)), open_(opener) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::unique_ptr<Dataset> open(std::uint64_t seed) const override {
    return open_(options_, seed);
  }

 private:
  std::string_view name_;
  Options options_;
  Open open_;
};

/// `path` as given, or below `config_folder` if only that exists; an absolute path as it is.
[[nodiscard]] std::filesystem::path located(const std::filesystem::path& path,
                                            const std::filesystem::path& config_folder);

/// Where a downloaded dataset may lie.
struct FolderSearch {
  std::string root;       // as configured
  std::string subfolder;  // the name the archive unpacks to; "" for none
  std::filesystem::path config_folder;
  std::vector<std::string> files;  // one of them must be there
  std::string title;               // "CIFAR-10", for the message
  std::string advice;              // how to get the data, for the message
};
/// The first of root/subfolder, root and the same below the config's folder that holds one of
/// `files`. Throws Error{data} with the places that were looked at and the advice.
[[nodiscard]] std::filesystem::path find_data_folder(const FolderSearch& search);

/// The lines of a file of class names, without blank ones. Empty if there is no such file. Throws
/// Error{data} if their number is not `classes`.
[[nodiscard]] std::vector<std::string> read_class_names(const std::filesystem::path& path,
                                                        std::int64_t classes);

}  // namespace trainyard
