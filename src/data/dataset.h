// Labelled images, read by index.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/fields.h"
#include "tensor/shape.h"

namespace trainyard {

/// A labelled set of images of one shape. Immutable after opening; read() is safe from any thread.
class Dataset {
 public:
  virtual ~Dataset() = default;
  /// Number of samples.
  [[nodiscard]] virtual std::int64_t size() const = 0;
  /// [c, h, w].
  [[nodiscard]] virtual Shape image_shape() const = 0;
  [[nodiscard]] virtual std::int64_t classes() const = 0;
  /// Empty where the source names none.
  [[nodiscard]] virtual std::vector<std::string> class_names() const { return {}; }
  /// Writes sample `index` as floats (0..255 for 8-bit sources), row-major c, h, w.
  virtual void read(std::int64_t index, float* image) const = 0;
  /// Class of sample `index`, in [0, classes).
  [[nodiscard]] virtual std::int32_t label(std::int64_t index) const = 0;
  /// XXH3-128 of the source's files, as hexadecimal text.
  [[nodiscard]] virtual std::string fingerprint() const = 0;
};

/// How a dataset is opened: `source: NAME` with its keys. Paths are relative to the current folder,
/// then to the folder of the config file.
class DatasetSource {
 public:
  virtual ~DatasetSource() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Opens the set. Throws Error{data} naming file, what was found and what was expected.
  [[nodiscard]] virtual std::unique_ptr<Dataset> open(std::uint64_t seed) const = 0;
};

[[nodiscard]] std::span<const config::Kind<DatasetSource>> dataset_kinds();

}  // namespace trainyard
