#include "data/sets/make_shapes.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"

namespace trainyard {
namespace {

constexpr std::int64_t kRecordBytes = 1 + 3 * kShapesSide * kShapesSide;
constexpr std::int64_t kTrainFiles = 5;

[[noreturn]] void fail_write(const fs::path& path, const std::string& reason) {
  throw disk_error("cannot write '" + path.string() + "': " + reason);
}

/// Samples [begin, end) of a split.
struct Range {
  Split split = Split::train;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

void fill_records(const Range& range, const ShapesOptions& options, std::vector<char>& records) {
  records.resize(static_cast<std::size_t>((range.end - range.begin) * kRecordBytes));
  parallel_ranges(options.threads, range.end - range.begin, 16,
                  [&](std::int64_t first, std::int64_t last) {
                    std::vector<std::uint8_t> pixels(kRecordBytes - 1);
                    for (std::int64_t i = first; i < last; ++i) {
                      char* record = records.data() + i * kRecordBytes;
                      record[0] = static_cast<char>(
                          draw_shapes_sample(options.seed, range.split, range.begin + i, pixels));
                      std::copy(pixels.begin(), pixels.end(), record + 1);
                    }
                  });
}

void write_records(const fs::path& path, const Range& range, const ShapesOptions& options) {
  constexpr std::int64_t kRecordsAPiece = 1000;
  std::ofstream file(path, std::ios::binary);
  std::vector<char> records;
  for (std::int64_t begin = range.begin; begin < range.end; begin += kRecordsAPiece) {
    fill_records({range.split, begin, std::min(begin + kRecordsAPiece, range.end)}, options,
                 records);
    file.write(records.data(), static_cast<std::streamsize>(records.size()));
  }
  file.close();
  if (!file) fail_write(path, "the disk is full or not writable");
}

void write_names(const fs::path& path) {
  std::ofstream file(path, std::ios::binary);
  for (const std::string_view name : figure_names()) file << name << '\n';
  file.close();
  if (!file) fail_write(path, "the disk is full or not writable");
}

void write_folder(const fs::path& folder, const ShapesOptions& options) {
  for (std::int64_t i = 0; i < kTrainFiles; ++i) {
    write_records(
        folder / ("data_batch_" + std::to_string(i + 1) + ".bin"),
        {Split::train, options.train * i / kTrainFiles, options.train * (i + 1) / kTrainFiles},
        options);
  }
  write_records(folder / "test_batch.bin", {Split::test, 0, options.test}, options);
  write_names(folder / "batches.meta.txt");
}

void check_new_or_empty(const fs::path& dest) {
  std::error_code error;
  if (!fs::exists(dest, error) || (fs::is_directory(dest) && fs::is_empty(dest))) return;
  throw data_error(
      "'" + dest.string() +
      "' exists and is not an empty folder; give a new one, so that no data is overwritten");
}

/// A folder next to the destination that is renamed to it at the end, or removed.
class UnfinishedFolder {
 public:
  explicit UnfinishedFolder(const fs::path& dest) : path_(dest.string() + ".unfinished") {
    std::error_code error;
    fs::remove_all(path_, error);  // left by a run that was killed
    fs::create_directories(path_, error);
    if (error) fail_write(path_, error.message());
  }
  ~UnfinishedFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  UnfinishedFolder(const UnfinishedFolder&) = delete;
  UnfinishedFolder& operator=(const UnfinishedFolder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }
  void rename_to(const fs::path& dest) const {
    std::error_code error;
    fs::rename(path_, dest, error);
    if (error) fail_write(dest, error.message());
  }

 private:
  fs::path path_;
};

}  // namespace

void make_shapes(const fs::path& dest, const ShapesOptions& options) {
  TY_CHECK(options.train >= kTrainFiles && options.test >= 1, "too few shapes");
  // "data/shapes/" and "data/shapes" are one folder; its name is needed for the one next to it.
  const fs::path folder = dest.has_filename() ? dest : dest.parent_path();
  check_new_or_empty(folder);
  const UnfinishedFolder unfinished(folder);
  write_folder(unfinished.path(), options);
  unfinished.rename_to(folder);
}

}  // namespace trainyard
