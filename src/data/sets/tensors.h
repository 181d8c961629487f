// Images and labels from a safetensors file.
#pragma once

#include "data/sets/source.h"

namespace trainyard {

struct TensorsOptions : SourceOptions {
  static constexpr std::string_view kName = "tensors";
  config::FilePath file;
  std::string images = "images";  // names inside the file
  std::string labels = "labels";
  std::vector<std::string> fields;  // further ones, by their names inside the file
  std::int64_t classes = 0;         // 0: the largest label plus one
  bool labelled = true;             // false: labels are not read, and each is 0; no key
};
void declare(config::Fields& fields, TensorsOptions& options);

/// Images [n, c, h, w] of float32 or uint8, labels [n] of int32 (-1: none), further fields [n]
/// or [n, k] of float32 or int32. Throws Error{data}: unsuitable
/// names, types or shapes, non-finite values, labels out of range.
[[nodiscard]] DatasetPtr open_tensors(const TensorsOptions& options);

}  // namespace trainyard
