// Shared by the dataset sources: options, the source object over them, and the search for folders.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/filesystem.h"
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

/// The options that a function opens as a data set.
template <class Options, class... Rest>
Options options_of(DatasetPtr (*)(const Options&, Rest...));
template <auto opener>
using OptionsOf = decltype(options_of(opener));

/// A source made of its options and the function that opens them, which may also take the Opening
/// or its seed.
template <auto opener>
class OptionsSource final : public DatasetSource {
 public:
  using Options = OptionsOf<opener>;
  OptionsSource(std::string_view name, Options options)
      : name_(name), options_(std::move(options)) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] DatasetPtr open(const Opening& opening) const override {
    if constexpr (std::is_invocable_v<decltype(opener), const Options&, const Opening&>) {
      return opener(options_, opening);
    } else if constexpr (std::is_invocable_v<decltype(opener), const Options&, std::uint64_t>) {
      return opener(options_, opening.seed);
    } else {
      return opener(options_);
    }
  }

 private:
  std::string_view name_;
  Options options_;
};

/// The reader of a source whose name is that of its options.
template <class Source>
std::unique_ptr<DatasetSource> read_source(config::Fields& fields) {
  typename Source::Options options;
  declare(fields, options);
  return std::make_unique<Source>(Source::Options::kName, std::move(options));
}

/// Whether the source of this name has this key next to it.
[[nodiscard]] bool source_takes(std::string_view source, std::string_view key);

/// The path. Throws Error{data} with the flag that selects another one if only that one exists.
[[nodiscard]] const fs::path& located(const config::FilePath& file);

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
[[nodiscard]] fs::path find_data_folder(const FolderSearch& search);

/// The lines of a file of class names, without blank ones. Empty if there is no such file. Throws
/// Error{data} if there are not `classes` of them; 0: any number.
[[nodiscard]] std::vector<std::string> read_class_names(const fs::path& path, std::int64_t classes);

}  // namespace trainyard
