#include "data/sets/image_index.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/faults.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/read_file.h"
#include "data/images/image_decode.h"

namespace trainyard {
namespace {

constexpr std::string_view kIndexTitle = "trainyard pictures 2\n";
constexpr std::string_view kIndexHash = "xxh3 ";
constexpr std::uint64_t kMostIndexBytes = std::uint64_t{1} << 32;

[[noreturn]] void bad_index(const std::string& what) {
  throw data_error("the index of images " + what);
}

/// Takes a number and the blank after it from a line.
std::int64_t take_number(std::string_view& line) {
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (status != std::errc{} || end == line.data() + line.size() || *end != ' ') {
    bad_index("has a damaged line");
  }
  line.remove_prefix(static_cast<std::size_t>(end - line.data()) + 1);
  return value;
}

ImageRecord parse_record(std::string_view line) {
  ImageRecord record;
  const std::int64_t bytes = take_number(line);
  record.bytes = static_cast<std::uint64_t>(bytes);
  record.changed = take_number(line);
  record.size.h = take_number(line);
  record.size.w = take_number(line);
  const std::int64_t decoded = take_number(line);
  record.decoded = decoded == 1;
  record.name = line;
  constexpr std::int64_t kMostPixels = 1 << 20;  // pixels of a side; more are no image's
  const auto is_side = [](std::int64_t pixels) { return pixels >= 1 && pixels <= kMostPixels; };
  if (bytes < 0 || decoded < 0 || decoded > 1 || !is_side(record.size.h) ||
      !is_side(record.size.w) || line.empty()) {
    bad_index("has a damaged line");
  }
  return record;
}

using KnownImages = std::unordered_map<std::string, ImageRecord>;

/// What an earlier run found; nothing if there is no index or a damaged one.
KnownImages read_index(const fs::path& file) {
  KnownImages known;
  std::error_code ignored;
  if (file.empty() || !fs::exists(file, ignored)) return known;
  try {
    for (auto& record : parse_image_index(read_text(file, ErrorKind::data, kMostIndexBytes))) {
      known.emplace(record.name, std::move(record));
    }
  } catch (const Error&) {  // it is only a cache: it is written again
    known.clear();
  }
  return known;
}

void write_index(const fs::path& file, const std::vector<ImageRecord>& records,
                 const Opening& opening) {
  try {
    const Disk disk;
    disk.make_folders(file.parent_path());
    disk.replace_file(file, image_index_text(records));
  } catch (const Error& error) {
    opening.warn(std::string(error.what()) +
                 "; the next run will read the sizes of all images again");
  }
}

fs::path index_file(const fs::path& folder, const Opening& opening) {
  if (opening.cache_folder.empty()) return {};
  std::error_code ignored;
  const std::string key = fs::weakly_canonical(folder, ignored).string();
  return opening.cache_folder / "pictures" / (hash128_hex(key) + ".index");
}

/// The time of a link itself, if it is later than its target's: it may lead to another file now.
std::int64_t time_of_change(const fs::path& path, std::error_code& error) {
  using std::chrono::file_clock, std::chrono::nanoseconds, std::chrono::seconds;
  file_clock::time_point time = fs::last_write_time(path, error);
  struct stat own {};
  if (lstat(path.c_str(), &own) == 0 && S_ISLNK(own.st_mode)) {
    const std::chrono::sys_time<nanoseconds> made{seconds(own.st_mtim.tv_sec) +
                                                  nanoseconds(own.st_mtim.tv_nsec)};
    time = std::max(time, file_clock::from_sys(made));
  }
  return std::chrono::duration_cast<nanoseconds>(time.time_since_epoch()).count();
}

ImageRecord record_on_disk(const fs::path& path, const std::string& name) {
  std::error_code error;
  ImageRecord record{.name = name};
  record.bytes = fs::file_size(path, error);
  if (error) bad_file(path, "cannot be read: " + error.message());
  record.changed = time_of_change(path, error);
  if (error) bad_file(path, "cannot be read: " + error.message());
  return record;
}

/// Whether what is known of a file answers the look.
bool answers(const ImageRecord& known, const ImageRecord& now, const ImageLook& look) {
  return known.bytes == now.bytes && known.changed == now.changed &&
         known.size.pixels() <= look.max_pixels && (known.decoded || !look.decode);
}

void look_at(const fs::path& path, const ImageLook& look, ImageRecord& record) {
  record.size = look.decode ? read_image_file(path, 3, look.max_pixels).size()
                            : image_file_size(path, look.max_pixels);
  record.decoded = look.decode;
}

}  // namespace

std::int64_t unix_time(std::int64_t changed) {
  const std::chrono::time_point<std::chrono::file_clock, std::chrono::nanoseconds> time{
      std::chrono::nanoseconds(changed)};
  return std::chrono::file_clock::to_sys(time).time_since_epoch().count();
}

std::string image_index_text(const std::vector<ImageRecord>& records) {
  std::string text(kIndexTitle);
  for (const ImageRecord& record : records) {
    if (!record.fault.empty() || record.name.find('\n') != std::string::npos) continue;
    text += std::to_string(record.bytes) + ' ' + std::to_string(record.changed) + ' ' +
            std::to_string(record.size.h) + ' ' + std::to_string(record.size.w) +
            (record.decoded ? " 1 " : " 0 ") + record.name + '\n';
  }
  const std::string hash = hash128_hex(text);
  return text + std::string(kIndexHash) + hash + '\n';
}

std::vector<ImageRecord> parse_image_index(std::string_view text) {
  constexpr std::size_t kHashLine = kIndexHash.size() + 32 + 1;
  if (!text.starts_with(kIndexTitle)) bad_index("is of another version");
  if (text.size() < kIndexTitle.size() + kHashLine) bad_index("is truncated");
  const std::string_view body = text.substr(0, text.size() - kHashLine);
  if (text.substr(body.size()) != std::string(kIndexHash) + hash128_hex(body) + '\n') {
    bad_index("does not match its hash");
  }
  std::vector<ImageRecord> records;
  for (std::size_t at = kIndexTitle.size(); at < body.size();) {
    const std::size_t end = body.find('\n', at);
    if (end == std::string_view::npos) bad_index("is truncated");
    records.push_back(parse_record(body.substr(at, end - at)));
    at = end + 1;
  }
  return records;
}

std::vector<ImageRecord> indexed_images(const fs::path& folder,
                                        const std::vector<std::string>& names,
                                        const ImageLook& look, const Opening& opening) {
  const fs::path file = index_file(folder, opening);
  const KnownImages known = read_index(file);
  std::vector<ImageRecord> records(names.size());
  std::atomic<bool> news = false;
  Faults faults;
  each_sample(available_cores(), std::ssize(names), [&](std::int64_t i) {
    const std::string& name = names[static_cast<std::size_t>(i)];
    ImageRecord& record = records[static_cast<std::size_t>(i)];
    faults.attempt(i, [&] {
      record = record_on_disk(folder / name, name);
      const auto found = known.find(name);
      if (found != known.end() && answers(found->second, record, look)) {
        record = found->second;
      } else {
        look_at(folder / name, look, record);
        news = true;
      }
    });
  });
  for (const auto& [i, fault] : faults.found()) records[static_cast<std::size_t>(i)].fault = fault;
  if (!file.empty() && news) write_index(file, records, opening);
  return records;
}

}  // namespace trainyard
