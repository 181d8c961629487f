// Images or sequences of tokens, with labels and other fields, read by index.
//
// The folder data holds data sets, decoding, statistics, augmentation and the feeder. It knows no
// network, no optimizer and no rank.
//
// A sample is an image and named fields, of which batches have those that the graph's inputs name.
// A sequence of tokens is a field, and has no image; a row of a table is the image [features, 1,
// 1]. What the training split fixes for all other data of a run is its SampleForm.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/filesystem.h"
#include "config/fields.h"
#include "data/images/image.h"
#include "data/sets/sample_field.h"
#include "data/sets/vocabulary.h"
#include "tensor/shape.h"

namespace trainyard {

// The files of a set whose samples are a file each.

struct SampleFile {
  std::string name;          // below the set's folder
  std::int32_t label = 0;    // label of its sample, as its source numbers classes
  std::uint64_t bytes = 0;   // its length
  std::int64_t changed = 0;  // time of its last change, nanoseconds since 1970
  std::string hash = {};     // XXH3-128 of its bytes; "": it was never decoded
};

/// In the order of the samples; no files: samples have none of their own.
struct SampleFiles {
  fs::path folder = {};
  std::vector<SampleFile> files = {};
  std::vector<std::string> left_out = {};  // names of files that are none of the samples
};

struct TableForm;  // data/sets/table_form.h

/// Samples held in memory. All empty if a set holds none.
struct HeldSamples {
  std::span<const std::uint8_t> bytes;   // images of 8 bits, [n, c, h, w]
  std::span<const float> floats;         // or other images
  std::span<const std::int32_t> labels;  // [n], or [n, t]
  /// The fields after the label: [n, field's shape] of each.
  std::vector<std::span<const std::byte>> fields = {};
};

/// The image_shape() of samples without an image.
inline const Shape kNoImage{0, 1, 1};

/// A labelled set of images of one shape, or of sequences of tokens (TokenSet): a numeric sequence
/// is the image [features, 1, steps]. Immutable after opening; every member function may be called
/// from any thread.
class Dataset {
 public:
  virtual ~Dataset() = default;
  /// Number of samples, at least 1.
  [[nodiscard]] virtual std::int64_t size() const = 0;
  /// [c, h, w]; h and w are 0 if the images differ in size; kNoImage: there are none.
  [[nodiscard]] virtual Shape image_shape() const = 0;
  /// [c, h, w] of sample `index`.
  [[nodiscard]] virtual Shape sample_shape(std::int64_t index) const {
    static_cast<void>(index);
    return image_shape();
  }
  [[nodiscard]] virtual std::int64_t classes() const = 0;
  /// In the order of the labels; empty if the source has no names.
  [[nodiscard]] virtual std::vector<std::string> class_names() const { return {}; }
  /// Writes sample `index` as floats (0..255 for 8-bit sources), row-major c, h, w of
  /// its sample_shape(). Throws
  /// Error{data} if a source decodes on reading and the file is bad.
  virtual void read(std::int64_t index, float* image) const = 0;
  /// Class of sample `index`, in [0, classes); of its last position if each has a label.
  [[nodiscard]] virtual std::int32_t label(std::int64_t index) const = 0;
  /// What a sample has besides its image: its label first.
  [[nodiscard]] virtual std::vector<SampleField> fields() const { return {SampleField{}}; }
  /// Writes field `field` (an index into fields()) of sample `index`: SampleField::bytes().
  virtual void read_field(std::size_t field, std::int64_t index, std::byte* out) const;
  /// What the tokens of a set of sequences mean; null: samples have no tokens.
  [[nodiscard]] virtual const Vocabulary* vocabulary() const { return nullptr; }
  /// What the columns are that samples are made of; null: they are no rows of a table.
  [[nodiscard]] virtual const TableForm* table() const { return nullptr; }
  /// XXH3-128 of the source's files (of its parameters if it has none), as hexadecimal text.
  [[nodiscard]] virtual std::string fingerprint() const = 0;
  /// The files of the samples as they were when the set was opened, and the hashes of those that
  /// have been decoded by now.
  [[nodiscard]] virtual SampleFiles files() const { return {}; }
  /// The file of sample `index` below the set's folder; "" if it has none of its own.
  [[nodiscard]] virtual std::string file(std::int64_t index) const {
    static_cast<void>(index);
    return "";
  }
  /// The index of sample `index` in what its source opened: another one in a part of it.
  [[nodiscard]] virtual std::int64_t origin(std::int64_t index) const { return index; }
  /// All samples, if the set holds them in memory. read() gives bytes as floats of their values.
  [[nodiscard]] virtual HeldSamples held() const { return {}; }
  /// Whether the images have 8 bits.
  [[nodiscard]] virtual bool eight_bit() const { return !held().bytes.empty(); }
  /// As read(), as bytes; only where eight_bit().
  virtual void read_bytes(std::int64_t index, std::uint8_t* image) const;
  /// Number of consecutive samples that are best read together (see EpochOrder); 0: any order is as
  /// good.
  [[nodiscard]] virtual std::int64_t block() const { return 0; }
};

using DatasetPtr = std::unique_ptr<Dataset>;

[[nodiscard]] inline bool has_images(const Dataset& set) { return set.image_shape() != kNoImage; }

/// What tells a sample from the others of its source: its file, else its index there.
[[nodiscard]] std::string sample_name(const Dataset& set, std::int64_t index);

/// What a sample is, for messages: "[3, 32, 32]", "[4]" of a table's features, "of several sizes",
/// "of 80 tokens".
[[nodiscard]] std::string sample_text(const Dataset& set);

/// The fields of `set` that its rows give a mean or words.
[[nodiscard]] std::vector<SampleField> fitted_fields(const Dataset& set);

class Faults;  // base/faults.h

/// The parts that a set is divided into.
enum class Part { train, val };

/// How `val_fraction` divides a set (part_of() in data/sets/subset.h). By index is the rule of runs
/// whose run.json names none.
enum class Division { by_name, by_index };

/// What the training split of a run fixes for all of its data, besides the numbers of classes;
/// empty where there is none.
struct SampleForm {
  std::shared_ptr<const Vocabulary> vocabulary = nullptr;
  std::shared_ptr<const TableForm> table = nullptr;
  std::vector<SampleField> fields = {};  // fields that have a mean or words
};

/// What a source may use when it opens a set.
struct Opening {
  std::uint64_t seed = 0;  // seed of sources that draw their samples
  fs::path cache_folder;   // for what need not be found twice; empty: nothing is kept
  std::function<void(const std::string&)> warn = [](const std::string&) {};
  bool check_all = false;  // samples in files of their own are all decoded on opening
  /// Images that cannot be decoded when they are read: they are zeros. Null: an error.
  std::shared_ptr<Faults> faults = nullptr;
  bool may_lack_classes = false;  // a class folder may be empty, which is a warning
  Division division = Division::by_name;
  /// The training split's form, for sources that derive it from data; empty: this is that split.
  SampleForm form = {};
};

/// `opening` for other data of the run whose training split is `train`.
[[nodiscard]] Opening following(Opening opening, const Dataset& train);

/// How a dataset is opened: `source: NAME` with its keys next to it.
class DatasetSource {
 public:
  virtual ~DatasetSource() = default;
  /// "cifar10".
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Opens the set. Throws Error{data} naming file, what was found and what was expected.
  [[nodiscard]] virtual DatasetPtr open(const Opening& opening) const = 0;
  /// Opens a part of the set, if the source has a rule of its own for `val_fraction`; null: it has
  /// none, and samples are chosen (part_of() in data/sets/subset.h). Throws as open().
  [[nodiscard]] virtual DatasetPtr open_part(const Opening& opening, double fraction,
                                             Part part) const {
    static_cast<void>(opening), static_cast<void>(fraction), static_cast<void>(part);
    return nullptr;
  }
};

/// Every source, in the order of the reference. The list is in data/kinds.cpp.
[[nodiscard]] std::span<const config::Kind<DatasetSource>> dataset_kinds();

/// An image [c, h, w] in float.
struct FloatImage {
  Shape shape;
  std::vector<float> values;
};

/// Sample `index` as its source gives it. Throws as Dataset::read().
[[nodiscard]] FloatImage image_of(const Dataset& set, std::int64_t index);

/// A range of values.
struct ValueRange {
  float least = std::numeric_limits<float>::max(), most = std::numeric_limits<float>::lowest();
  double sum = 0;
  std::int64_t count = 0;

  void take(const std::vector<float>& values);
};

/// The drawing in which 0..255 are the values of `range`, rounded and cut: coloured with 3
/// channels, else grey, of the first one.
[[nodiscard]] Image colored(const FloatImage& sample, const ValueRange& range);

}  // namespace trainyard
