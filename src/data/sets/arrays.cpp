#include "data/sets/arrays.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "base/read_file.h"
#include "data/sets/memory_dataset.h"
#include "data/sets/numpy_array.h"
#include "data/sets/zip_file.h"

namespace trainyard {
namespace {

[[noreturn]] void bad_shape(const NumpyArray& array, const std::string& expected) {
  throw data_error("'" + array.name + "' is " + array.text() + ", expected " + expected);
}

/// The arrays of a set.
struct Arrays {
  NumpyArray x;
  std::optional<NumpyArray> y = std::nullopt, lengths = std::nullopt;
};

/// The arrays that `read` gives by their names.
template <class Read>
Arrays arrays_by(const ArraysOptions& options, const Read& read) {
  Arrays arrays{.x = read(options.x)};
  if (options.labelled) arrays.y = read(options.y);
  if (!options.lengths.empty()) arrays.lengths = read(options.lengths);
  return arrays;
}

Arrays arrays_of(const ArraysOptions& options) {
  if (options.file.empty()) {
    const auto whole = [](const config::FilePath& file) {
      const fs::path& path = located(file);
      const InputFile input(path, ErrorKind::data);
      std::vector<std::byte> bytes(input.size());
      input.read(0, bytes);
      return parse_numpy(std::move(bytes), path.string());
    };
    return arrays_by(options, whole);
  }
  const fs::path path = located(options.file);
  const ZipFile archive(path);
  const auto member = [&](const config::FilePath& name) {
    const std::string array = name.string();
    const std::string of = path.string() + ": " + array;
    const ZipFile::Start start = archive.start(array + ".npy", kNumpyStartBytes);
    static_cast<void>(numpy_header(start.bytes, start.size, of));  // before all of it is inflated
    return parse_numpy(archive.read(array + ".npy"), of);
  };
  return arrays_by(options, member);
}

/// The shape of a sample's label, for the samples of `x`: of rank 0 ([n], [n, 1]) or [t].
Shape label_of(const NumpyArray& x, const NumpyArray& y, bool vectors) {
  const std::int64_t n = x.shape[0], steps = x.shape[1];
  const bool one = y.shape.size() == 1 || (y.shape.size() == 2 && y.shape[1] == 1);
  const bool each = !vectors && y.shape.size() == 2 && y.shape[1] == steps;
  if (!y.shape.empty() && y.shape[0] == n && (one || each)) return one ? Shape{} : Shape{steps};
  const std::string count = std::to_string(n);
  bad_shape(y, "whole numbers [" + count + "]" +
                   (vectors ? "" : " or [" + count + ", " + std::to_string(steps) + "]") +
                   ": a class for each sample of x" +
                   (vectors ? "" : ", or for each of its steps") + "; or real numbers [" + count +
                   "] or [" + count + ", outputs]; of one-hot labels take numpy.argmax(y, -1)");
}

/// The field of real numbers.
MemoryField targets_of(const NumpyArray& x, const NumpyArray& y) {
  const std::size_t rank = y.shape.size();
  if (rank < 1 || rank > 2 || y.shape[0] != x.shape[0] || y.elements() == 0) {
    const std::string count = std::to_string(x.shape[0]);
    bad_shape(y, "real numbers [" + count + "] or [" + count + ", outputs]");
  }
  const std::vector<float> numbers = floats_of(y);
  const auto bytes = std::as_bytes(std::span(numbers));
  return {{.name = "y", .shape = rank == 1 ? Shape{} : Shape{y.shape[1]}, .type = DType::f32},
          {bytes.begin(), bytes.end()}};
}

/// The number of classes, whose labels are checked.
std::int64_t classes_of(const std::vector<std::int32_t>& labels, std::int64_t classes,
                        const NumpyArray& y) {
  if (classes == 0) classes = std::int64_t{*std::ranges::max_element(labels)} + 1;
  const auto bad = std::ranges::find_if(
      labels, [&](std::int32_t label) { return label < 0 || label >= classes; });
  if (bad == labels.end()) return classes;
  throw data_error("'" + y.name + "': label " + std::to_string(bad - labels.begin()) +
                   " (from 0) is " + std::to_string(*bad) + ", expected 0 to " +
                   std::to_string(std::max<std::int64_t>(classes, 1) - 1));
}

/// The labels of the samples, and what one of a sample is; or numbers in their place.
struct ArrayLabels {
  Shape shape = {};
  std::vector<std::int32_t> values = {};
  std::int64_t classes = 1;
  std::vector<MemoryField> numbers = {};
};

ArrayLabels labels_of(const Arrays& arrays, const ArraysOptions& options) {
  ArrayLabels labels;
  if (!arrays.y) {
    labels.values.resize(static_cast<std::size_t>(arrays.x.shape[0]));
    labels.classes = std::max<std::int64_t>(options.classes, 1);
    return labels;
  }
  if (arrays.y->kind == NumberKind::real) {
    labels.values.assign(static_cast<std::size_t>(arrays.x.shape[0]), -1);
    labels.classes = 0;
    labels.numbers.push_back(targets_of(arrays.x, *arrays.y));
    return labels;
  }
  labels.shape = label_of(arrays.x, *arrays.y, options.vectors);
  labels.values = integers_of(*arrays.y);
  labels.classes = classes_of(labels.values, options.classes, *arrays.y);
  return labels;
}

/// Samples [t, features] as [features, t].
std::vector<float> features_first(const std::vector<float>& values, std::int64_t n,
                                  std::int64_t steps, std::int64_t features) {
  std::vector<float> turned(values.size());
  for (std::int64_t i = 0; i < n * steps * features; ++i) {
    const std::int64_t feature = i % features, step = i / features % steps;
    const std::int64_t sample = i / (features * steps);
    turned[static_cast<std::size_t>((sample * features + feature) * steps + step)] =
        values[static_cast<std::size_t>(i)];
  }
  return turned;
}

/// The length of each sample, in [0, steps]; empty: there are none.
std::vector<std::int32_t> lengths_of(const Arrays& arrays) {
  if (!arrays.lengths) return {};
  const NumpyArray& of = *arrays.lengths;
  const std::int64_t n = arrays.x.shape[0], steps = arrays.x.shape[1];
  if (of.kind == NumberKind::real || of.shape != std::vector<std::int64_t>{n}) {
    bad_shape(of, "whole numbers [" + std::to_string(n) + "]: the steps of each sample");
  }
  std::vector<std::int32_t> lengths = integers_of(of);
  const auto bad = std::ranges::find_if(
      lengths, [&](std::int32_t length) { return length < 0 || length > steps; });
  if (bad == lengths.end()) return lengths;
  throw data_error("'" + of.name + "': length " + std::to_string(bad - lengths.begin()) +
                   " (from 0) is " + std::to_string(*bad) + ", expected 0 to " +
                   std::to_string(steps) + ", the steps of x");
}

std::string arrays_fingerprint(const Arrays& arrays, const ArraysOptions& options) {
  Hash128 hash;
  hash.update(arrays.x.file);
  if (arrays.y) hash.update(arrays.y->file);
  if (arrays.lengths) hash.update(arrays.lengths->file);
  hash.update(std::to_string(options.vocabulary) + " " + std::to_string(options.limit) +
              (options.vectors ? " vectors" : ""));
  return hash.hex();
}

DatasetPtr number_set(const Arrays& arrays, const ArraysOptions& options) {
  const NumpyArray& x = arrays.x;
  const std::size_t rank = x.shape.size();
  if (rank < 2 || rank > (options.vectors ? 2 : 3) || x.elements() == 0) {
    bad_shape(x, options.vectors ? "numbers [n, features], at least one"
                                 : "numbers [n, steps, features] or [n, steps], at least one");
  }
  ArrayLabels labels = labels_of(arrays, options);
  const std::int64_t steps = options.vectors ? 1 : x.shape[1];
  const std::int64_t features = x.elements() / (x.shape[0] * steps);
  MemorySamples samples{.image = {features, 1, steps}, .fields = std::move(labels.numbers)};
  samples.floats = features_first(floats_of(x), x.shape[0], steps, features);
  samples.labels = std::move(labels.values);
  samples.label = labels.shape;
  const std::vector<std::int32_t> lengths = lengths_of(arrays);
  if (!lengths.empty()) samples.fields.push_back(field_of({.name = kLengthField}, lengths));
  samples.classes = labels.classes;
  samples.fingerprint = arrays_fingerprint(arrays, options);
  return std::make_unique<MemoryDataset>(std::move(samples), options.limit);
}

DatasetPtr token_arrays(const Arrays& arrays, const ArraysOptions& options) {
  const NumpyArray& x = arrays.x;
  if (x.kind == NumberKind::real || x.shape.size() != 2 || x.elements() == 0) {
    bad_shape(x, "whole numbers [n, steps], at least one: tokens of the 'vocabulary'");
  }
  ArrayLabels labels = labels_of(arrays, options);
  TokenSamples samples{
      .steps = x.shape[1], .tokens = integers_of(x), .labels = std::move(labels.values)};
  samples.lengths = lengths_of(arrays);
  samples.fields = std::move(labels.numbers);
  const auto bad = std::ranges::find_if(
      samples.tokens, [&](std::int32_t token) { return token < 0 || token >= options.vocabulary; });
  if (bad != samples.tokens.end()) {
    throw data_error("'" + x.name + "': sample " +
                     std::to_string((bad - samples.tokens.begin()) / samples.steps) +
                     " (from 0) has token " + std::to_string(*bad) + ", expected 0 to " +
                     std::to_string(options.vocabulary - 1) + ": below 'vocabulary'");
  }
  samples.form = labels.shape.rank() == 0 ? LabelForm::one : LabelForm::each;
  samples.classes = labels.classes;
  samples.vocabulary = std::make_shared<const Vocabulary>(numbered_vocabulary(options.vocabulary));
  samples.fingerprint = arrays_fingerprint(arrays, options);
  return token_set_of(std::move(samples), options.limit);
}

/// A .npy file, or, if it is `named`, an array in the .npz file.
void declare_array(config::Fields& fields, std::string_view key, config::FilePath& array,
                   bool named, std::string_view help) {
  if (!named) return fields.field(key, array, help);
  std::string name = array.string();
  fields.field(key, name, help);
  array = name;
}

}  // namespace

void declare(config::Fields& fields, ArraysOptions& options) {
  fields.field("file", options.file, "an .npz file; without it x and y are .npy files");
  const bool named = !options.file.empty();
  declare_array(fields, "x", options.x, named,
                "the samples: [n, steps, features] or [n, steps]; the name of an array in the .npz "
                "file, or a .npy file");
  declare_array(fields, "y", options.y, named,
                "the classes, [n], or [n, steps] of each step; real numbers, [n] or [n, outputs], "
                "are the field 'y'; a name or a file");
  declare_array(fields, "lengths", options.lengths, named,
                "the steps of each sample that are no padding, [n]: the field 'length'; a name or "
                "a file");
  fields.field("vocabulary", options.vocabulary, "x are tokens below this number; 0: x are numbers",
               {.minimum = 0, .maximum = 1 << 24});
  fields.field("classes", options.classes, "number of classes; 0: the largest label plus one",
               {.minimum = 0});
  fields.field("vectors", options.vectors,
               "x is [n, features], a vector for each sample and no sequence");
  if (options.vectors && (options.vocabulary > 0 || !options.lengths.empty())) {
    fields.error("vectors", "vectors have neither 'vocabulary' nor 'lengths'; remove one of them");
  }
  declare_common(fields, options);
  if (fields.describing() || named) return;
  if (!fields.given("x") || !fields.given("y")) {
    fields.error("", "give 'file', or 'x' and 'y': an .npz file, or two .npy files");
  }
}

DatasetPtr open_arrays(const ArraysOptions& options) {
  const Arrays arrays = arrays_of(options);
  return options.vocabulary > 0 ? token_arrays(arrays, options) : number_set(arrays, options);
}

}  // namespace trainyard
