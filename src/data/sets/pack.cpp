#include "data/sets/pack.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>

#include "base/each_sample.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "data/sets/epoch_order.h"
#include "data/sets/pack_layout.h"

namespace trainyard {

namespace {

/// The bytes of a file, read by the system when they are touched. If the file is cut while it is
/// mapped, touching the missing part ends the process (SIGBUS): see require_whole().
class MappedFile {
 public:
  /// Throws Error{kind} if the file is not a regular one, is empty, or cannot be mapped.
  MappedFile(const std::filesystem::path& path, ErrorKind kind);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  /// Throws Error{kind} if the file has become shorter; to be called before bytes are touched. A
  /// cut between this call and the touch is not seen.
  void require_whole() const;
  /// Gives back the memory of the pages that lie wholly in a part; touching them maps them again.
  void drop(std::span<const std::byte> part) const;

 private:
  std::filesystem::path path_;
  ErrorKind kind_;
  Descriptor file_;
  std::span<const std::byte> bytes_;
};

[[noreturn]] void bad_mapping(const std::filesystem::path& path, ErrorKind kind,
                              const std::string& what) {
  throw Error(kind, "'" + path.string() + "' " + what);
}

/// The whole pages that lie in a part.
std::span<std::byte> pages(std::span<const std::byte> part) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(part.data());
  const std::uintptr_t begin = (first + page - 1) / page * page;
  const std::uintptr_t end = (first + part.size()) / page * page;
  if (begin >= end) return {};
  return {reinterpret_cast<std::byte*>(begin), end - begin};
}

MappedFile::MappedFile(const std::filesystem::path& path, ErrorKind kind)
    // O_NONBLOCK: opening a pipe must not wait for its writer; regular files ignore it.
    : path_(path),
      kind_(kind),
      file_(FileNumber{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)}) {
  struct stat facts {};
  if (!file_ || fstat(file_.get().value, &facts) != 0) {
    bad_mapping(path, kind, "cannot be opened: " + std::string(std::strerror(errno)));
  }
  if (!S_ISREG(facts.st_mode)) bad_mapping(path, kind, "is not a regular file");
  if (facts.st_size == 0) bad_mapping(path, kind, "is empty");
  const auto size = static_cast<std::size_t>(facts.st_size);
  void* const at = mmap(nullptr, size, PROT_READ, MAP_SHARED, file_.get().value, 0);
  if (at == MAP_FAILED) {
    bad_mapping(path, kind, "cannot be mapped: " + std::string(std::strerror(errno)));
  }
  bytes_ = {static_cast<const std::byte*>(at), size};
}

MappedFile::~MappedFile() { munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size()); }

void MappedFile::require_whole() const {
  struct stat facts {};
  const bool known = fstat(file_.get().value, &facts) == 0;
  if (known && facts.st_size >= static_cast<off_t>(bytes_.size())) return;
  bad_mapping(path_, kind_,
              "has " + std::to_string(facts.st_size) + " bytes, but had " +
                  std::to_string(bytes_.size()) +
                  " when it was opened; do not change a file that is in use");
}

// Advice: if the system does not follow it, only memory is lost.
void MappedFile::drop(std::span<const std::byte> part) const {
  const auto range = pages(part);
  if (!range.empty()) static_cast<void>(madvise(range.data(), range.size(), MADV_DONTNEED));
}

/// The blocks read last, in no order.
class LastBlocks {
 public:
  /// Notes that `block` is read. Returns the block to drop for it, or -1.
  std::int64_t note(std::int64_t block) {
    const std::lock_guard lock(mutex_);
    ++now_;
    const auto known = std::ranges::find(uses_, block, &Use::block);
    if (known != uses_.end()) {
      known->when = now_;
      return -1;
    }
    if (std::ssize(uses_) < kMost) {
      uses_.push_back({block, now_});
      return -1;
    }
    Use& oldest = *std::ranges::min_element(uses_, {}, &Use::when);
    return std::exchange(oldest, Use{block, now_}).block;
  }

 private:
  static constexpr std::int64_t kMost = 3 * EpochOrder::kWindowBlocks;
  struct Use {
    std::int64_t block = 0, when = 0;
  };
  std::mutex mutex_;
  std::vector<Use> uses_;
  std::int64_t now_ = 0;
};

class PackDataset final : public Dataset {
 public:
  explicit PackDataset(const std::filesystem::path& path, std::int64_t limit)
      : name_(path.string()),
        file_(path, ErrorKind::data),
        header_(pack_header(file_.bytes(), name_)),
        size_(limit > 0 ? std::min(limit, header_.samples) : header_.samples),
        checked_(std::make_unique<std::atomic<bool>[]>(static_cast<std::size_t>(header_.blocks()))),
        fingerprint_(hash128_hex(pack_tail(header_) + std::to_string(size_))) {
    read_labels();
  }

  [[nodiscard]] std::int64_t size() const override { return size_; }
  [[nodiscard]] Shape image_shape() const override { return header_.image; }
  [[nodiscard]] std::int64_t classes() const override { return header_.classes; }
  [[nodiscard]] std::vector<std::string> class_names() const override {
    return header_.class_names;
  }
  [[nodiscard]] std::int32_t label(std::int64_t index) const override {
    return labels_[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] std::string fingerprint() const override { return fingerprint_; }
  [[nodiscard]] bool eight_bit() const override { return true; }
  [[nodiscard]] std::int64_t block() const override { return header_.block; }
  void read(std::int64_t index, float* image) const override {
    const auto bytes = sample(index);
    std::copy_n(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), image);
  }
  void read_bytes(std::int64_t index, std::uint8_t* image) const override {
    const auto bytes = sample(index);
    std::memcpy(image, bytes.data(), bytes.size());
  }
  void check_block(std::int64_t block) const;
  [[nodiscard]] std::int64_t blocks() const { return header_.blocks(); }

 private:
  void read_labels();
  [[nodiscard]] std::span<const std::byte> samples(std::int64_t first, std::int64_t count) const {
    const std::int64_t each = header_.image.elements();
    return file_.bytes().subspan(static_cast<std::size_t>(first * each),
                                 static_cast<std::size_t>(count * each));
  }
  [[nodiscard]] std::span<const std::byte> bytes_of(std::int64_t block) const {
    const std::int64_t first = block * header_.block;
    return samples(first, std::min(header_.block, header_.samples - first));
  }
  [[nodiscard]] std::span<const std::byte> around(std::int64_t block) const;
  [[nodiscard]] std::span<const std::byte> sample(std::int64_t index) const;

  std::string name_;
  MappedFile file_;
  PackHeader header_;
  std::int64_t size_;
  std::vector<std::int32_t> labels_;
  std::unique_ptr<std::atomic<bool>[]> checked_;  // a block each
  mutable LastBlocks last_;
  std::string fingerprint_;
};

void PackDataset::read_labels() {
  const auto bytes =
      file_.bytes().subspan(header_.labels_at(), header_.header_at() - header_.labels_at());
  if (hash128_hex(bytes) != header_.labels_hash) {
    bad_file(name_, "is damaged: its labels do not match their hash; make it again");
  }
  labels_.resize(static_cast<std::size_t>(header_.samples));
  std::memcpy(labels_.data(), bytes.data(), bytes.size());
  const auto bad = std::ranges::find_if(
      labels_, [&](std::int32_t label) { return label < -1 || label >= header_.classes; });
  if (bad == labels_.end()) return;
  bad_file(name_, "is damaged: sample " + std::to_string(bad - labels_.begin()) +
                      " (from 0) has label " + std::to_string(*bad) + ", expected 0 to " +
                      std::to_string(header_.classes - 1));
}

void PackDataset::check_block(std::int64_t block) const {
  file_.require_whole();
  std::atomic<bool>& checked = checked_[static_cast<std::size_t>(block)];
  if (checked.load(std::memory_order_relaxed)) return;
  if (hash128_hex(bytes_of(block)) != header_.hashes[static_cast<std::size_t>(block)]) {
    const std::int64_t first = block * header_.block;
    bad_file(name_, "is damaged: the samples from " + std::to_string(first) + " to " +
                        std::to_string(std::min(first + header_.block, header_.samples) - 1) +
                        " do not match their hash; make it again");
  }
  checked.store(true, std::memory_order_relaxed);
}

/// A block and the pages beside it that the system maps when it is touched (fault-around), which
/// would otherwise add up.
std::span<const std::byte> PackDataset::around(std::int64_t block) const {
  constexpr std::size_t kAround = 1 << 16;
  const auto bytes = bytes_of(block), all = file_.bytes();
  const auto begin = static_cast<std::size_t>(bytes.data() - all.data());
  const std::size_t first = begin - std::min(begin, kAround);
  return all.subspan(first, std::min(begin + bytes.size() + kAround, all.size()) - first);
}

std::span<const std::byte> PackDataset::sample(std::int64_t index) const {
  const std::int64_t block = index / header_.block;
  const std::int64_t dropped = last_.note(block);
  if (dropped >= 0) file_.drop(around(dropped));
  check_block(block);
  return samples(index, 1);
}

}  // namespace

void declare(config::Fields& fields, PackOptions& options) {
  fields.required("file", options.file, "a file that 'train data pack' wrote");
  fields.field(
      "check", options.check,
      "when hashes are checked: of each block when it is first read, or of all on opening");
  declare_common(fields, options);
}

std::unique_ptr<Dataset> open_pack(const PackOptions& options) {
  auto pack = std::make_unique<PackDataset>(located(options.file), options.limit);
  if (options.check == PackCheck::opening) {
    each_sample(available_cores(), pack->blocks(),
                [&](std::int64_t block) { pack->check_block(block); });
  }
  return pack;
}

std::unique_ptr<DatasetSource> read_pack(config::Fields& fields) {
  PackOptions options;
  declare(fields, options);
  return std::make_unique<OptionsSource<PackOptions>>(
      "pack", options, [](const PackOptions& given, const Opening&) { return open_pack(given); });
}

}  // namespace trainyard
