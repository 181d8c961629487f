#include "data/sets/cifar.h"

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/read_file.h"
#include "data/sets/memory_dataset.h"

namespace trainyard {
namespace {

constexpr std::size_t kPixelBytes = std::size_t{3} * 32 * 32;

/// The format of a record: `labels` bytes, of which `label` is the one used, then the pixels.
struct RecordForm {
  std::size_t labels = 1;
  std::size_t label = 0;
  std::int64_t classes = 10;
  [[nodiscard]] std::size_t bytes() const { return labels + kPixelBytes; }
};

std::size_t record_count(const InputFile& file, const fs::path& path, const RecordForm& form) {
  const std::size_t records = file.size() / form.bytes();
  const std::size_t rest = file.size() % form.bytes();
  if (records > 0 && rest == 0) return records;
  throw data_error("'" + path.string() + "' is damaged: " + std::to_string(file.size()) +
                   " bytes, that is " + std::to_string(records) + " records and " +
                   std::to_string(rest) + " bytes; expected a multiple of " +
                   std::to_string(form.bytes()) + " bytes; get the file again");
}

void append_record(const std::byte* record, const RecordForm& form, MemorySamples& samples) {
  samples.labels.push_back(std::to_integer<std::int32_t>(record[form.label]));
  const auto* pixels = reinterpret_cast<const std::uint8_t*>(record + form.labels);
  samples.bytes.insert(samples.bytes.end(), pixels, pixels + kPixelBytes);
}

void check_label(std::int32_t label, const fs::path& path, std::size_t record,
                 const RecordForm& form) {
  if (label < form.classes) return;
  throw data_error("'" + path.string() + "': record " + std::to_string(record) +
                   " (from 0) has label " + std::to_string(label) + ", expected 0 to " +
                   std::to_string(form.classes - 1) +
                   "; the file is damaged or of another data set");
}

void append_file(const fs::path& path, const RecordForm& form, Hash128& hash,
                 MemorySamples& samples) {
  constexpr std::size_t kRecordsAPiece = 512;
  const InputFile file(path, ErrorKind::data);
  const std::size_t records = record_count(file, path, form);
  std::vector<std::byte> piece(kRecordsAPiece * form.bytes());
  for (std::size_t first = 0; first < records; first += kRecordsAPiece) {
    const std::size_t count = std::min(kRecordsAPiece, records - first);
    const std::span<std::byte> part(piece.data(), count * form.bytes());
    file.read(first * form.bytes(), part);
    hash.update(part);
    for (std::size_t i = 0; i < count; ++i) {
      append_record(part.data() + i * form.bytes(), form, samples);
      check_label(samples.labels.back(), path, first + i, form);
    }
  }
}

/// Allocates all records at once, so that 150 MB are not copied while the vector grows.
void reserve(const std::vector<fs::path>& paths, const RecordForm& form, MemorySamples& samples) {
  std::size_t records = 0;
  for (const fs::path& path : paths) {
    records += record_count(InputFile(path, ErrorKind::data), path, form);
  }
  samples.labels.reserve(records);
  samples.bytes.reserve(records * kPixelBytes);
}

DatasetPtr open_files(const std::vector<fs::path>& paths, const RecordForm& form,
                      const fs::path& names, std::int64_t limit) {
  MemorySamples samples;
  samples.image = Shape{3, 32, 32};
  samples.classes = form.classes;
  samples.class_names = read_class_names(names, form.classes);
  reserve(paths, form, samples);
  Hash128 hash;
  for (const fs::path& path : paths) append_file(path, form, hash, samples);
  samples.fingerprint = hash.hex();
  return std::make_unique<MemoryDataset>(std::move(samples), limit);
}

std::string download_line(const std::string& root) {
  return "get it with: mkdir -p '" + root +
         "' && curl -L https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz | tar xz -C '" +
         root + "'";
}

}  // namespace

void declare(config::Fields& fields, Cifar10Options& options) {
  fields.field("root", options.root, "folder with cifar-10-batches-bin, or that folder itself");
  fields.field("split", options.split, "which split");
  declare_common(fields, options);
}

void declare(config::Fields& fields, Cifar100Options& options) {
  fields.field("root", options.root, "folder with cifar-100-binary, or that folder itself");
  fields.field("split", options.split, "which split");
  fields.field("labels", options.labels, "the 100 fine classes or the 20 coarse ones");
  declare_common(fields, options);
}

DatasetPtr open_cifar10(const Cifar10Options& options) {
  std::vector<std::string> files{"test_batch.bin"};
  if (options.split == Split::train) {
    files = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
             "data_batch_5.bin"};
  }
  const fs::path folder =
      find_data_folder({options.root,
                        "cifar-10-batches-bin",
                        {files.front()},
                        "CIFAR-10",
                        "get it with: train data get cifar10 --to '" + options.root.string() + "'" +
                            "; or make a stand-in with: train data make shapes '" +
                            options.root.string() + "/cifar-10-batches-bin'"});
  std::vector<fs::path> paths;
  paths.reserve(files.size());
  for (const std::string& file : files) paths.push_back(folder / file);
  return open_files(paths, {.labels = 1, .label = 0, .classes = 10}, folder / "batches.meta.txt",
                    options.limit);
}

DatasetPtr open_cifar100(const Cifar100Options& options) {
  const std::string file = options.split == Split::train ? "train.bin" : "test.bin";
  const fs::path folder = find_data_folder({options.root,
                                            "cifar-100-binary",
                                            {file},
                                            "CIFAR-100",
                                            download_line(options.root.string())});
  const bool fine = options.labels == CifarLabels::fine;
  const RecordForm form{.labels = 2, .label = fine ? 1u : 0u, .classes = fine ? 100 : 20};
  return open_files({folder / file}, form,
                    folder / (fine ? "fine_label_names.txt" : "coarse_label_names.txt"),
                    options.limit);
}

}  // namespace trainyard
