#include "data/sets/tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/hash.h"
#include "data/sets/memory_dataset.h"
#include "formats/safetensors.h"

namespace trainyard {
namespace {

[[noreturn]] void bad_tensors(const fs::path& path, const std::string& what) {
  throw data_error("'" + path.string() + "': " + what);
}

std::string described(const NamedTensor& tensor) {
  std::string text =
      "'" + tensor.name + "' is " + std::string(safetensors_name(tensor.type)) + " [";
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(tensor.shape[i]);
  }
  return text + "]";
}

void check_images(const NamedTensor& images, const fs::path& path) {
  const bool known = images.type == StoredType::f32 || images.type == StoredType::u8;
  if (!known || images.shape.size() != 4 || images.bytes.empty()) {
    bad_tensors(path,
                described(images) + ", expected F32 or U8 [n, c, h, w] with at least one element");
  }
}

/// Copies out of the file, whose tensors need not be aligned.
template <class T>
std::vector<T> values_of(const NamedTensor& tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

/// The labels of these images.
std::vector<std::int32_t> labels_in(const NamedTensor& labels, const NamedTensor& images,
                                    const fs::path& path) {
  if (labels.type != StoredType::i32 || labels.shape.size() != 1) {
    bad_tensors(path, described(labels) + ", expected I32 [n]");
  }
  if (labels.shape[0] != images.shape[0]) {
    bad_tensors(path,
                described(images) + " but " + described(labels) + "; expected one label per image");
  }
  return values_of<std::int32_t>(labels);
}

/// `of` names a row: "image ".
void check_finite(const std::vector<float>& values, const NamedTensor& tensor,
                  const std::string& of, const fs::path& path) {
  const auto bad =
      std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  if (bad == values.end()) return;
  const std::int64_t each = static_cast<std::int64_t>(values.size()) / tensor.shape[0];
  bad_tensors(path, of + std::to_string((bad - values.begin()) / each) +
                        " (from 0) holds a value that is not finite");
}

std::int64_t checked_classes(const std::vector<std::int32_t>& labels, std::int64_t classes,
                             const fs::path& path) {
  if (classes == 0) {
    classes = std::max<std::int64_t>(*std::max_element(labels.begin(), labels.end()), 0) + 1;
  }
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= -1 && labels[i] < classes) continue;
    bad_tensors(path, "record " + std::to_string(i) + " (from 0) has label " +
                          std::to_string(labels[i]) + ", expected 0 to " +
                          std::to_string(classes - 1) + ", or -1 for none");
  }
  return classes;
}

MemoryField read_field(const NamedTensor& tensor, std::int64_t samples, const fs::path& path) {
  const bool known = tensor.type == StoredType::f32 || tensor.type == StoredType::i32;
  const std::size_t rank = tensor.shape.size();
  if (!known || rank < 1 || rank > 2 || tensor.bytes.empty() || tensor.shape[0] != samples) {
    bad_tensors(path, described(tensor) + ", expected F32 or I32 [" + std::to_string(samples) +
                          "] or [" + std::to_string(samples) + ", k]");
  }
  MemoryField field{.of = {.name = tensor.name,
                           .shape = rank == 1 ? Shape{} : Shape{tensor.shape[1]},
                           .type = tensor.type == StoredType::f32 ? DType::f32 : DType::i32},
                    .values = {tensor.bytes.begin(), tensor.bytes.end()}};
  if (field.of.type == DType::f32) {
    check_finite(values_of<float>(tensor), tensor, "'" + tensor.name + "': sample ", path);
  }
  return field;
}

}  // namespace

void declare(config::Fields& fields, TensorsOptions& options) {
  fields.required("file", options.file, "safetensors file");
  fields.field("images", options.images, "name of the images, [n, c, h, w] of float32 or uint8");
  fields.field("labels", options.labels, "name of the labels, [n] of int32; -1: no label");
  fields.field("fields", options.fields,
               "names of further tensors, [n] or [n, k] of float32 or int32: targets, weights");
  fields.field("classes", options.classes, "number of classes; 0: the largest label plus one",
               {.minimum = 0});
  declare_common(fields, options);
}

DatasetPtr open_tensors(const TensorsOptions& options) {
  const fs::path path = located(options.file);
  const SafetensorsFile file = SafetensorsFile::open(path);
  const NamedTensor& images = file.at(options.images);
  check_images(images, path);
  MemorySamples samples;
  samples.image = Shape{images.shape[1], images.shape[2], images.shape[3]};
  samples.labels.resize(static_cast<std::size_t>(images.shape[0]));
  if (options.labelled) samples.labels = labels_in(file.at(options.labels), images, path);
  samples.classes = checked_classes(samples.labels, options.classes, path);
  if (images.type == StoredType::u8) {
    samples.bytes = values_of<std::uint8_t>(images);
  } else {
    samples.floats = values_of<float>(images);
    check_finite(samples.floats, images, "image ", path);
  }
  for (const std::string& name : options.fields) {
    samples.fields.push_back(read_field(file.at(name), images.shape[0], path));
  }
  samples.fingerprint = hash128_file_hex(path, ErrorKind::data);
  return std::make_unique<MemoryDataset>(std::move(samples), options.limit);
}

}  // namespace trainyard
