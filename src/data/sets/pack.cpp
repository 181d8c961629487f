#include "data/sets/pack.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "base/error.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/read_file.h"
#include "data/sets/epoch_order.h"
#include "data/sets/pack_layout.h"

namespace trainyard {

namespace {

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
  explicit PackDataset(const fs::path& path, std::int64_t limit)
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
  void check_block(std::int64_t block) const {
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
  [[nodiscard]] std::int64_t blocks() const { return header_.blocks(); }

 private:
  void read_labels() {
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
  [[nodiscard]] std::span<const std::byte> samples(std::int64_t first, std::int64_t count) const {
    const std::int64_t each = header_.image.elements();
    return file_.bytes().subspan(static_cast<std::size_t>(first * each),
                                 static_cast<std::size_t>(count * each));
  }
  [[nodiscard]] std::span<const std::byte> bytes_of(std::int64_t block) const {
    const std::int64_t first = block * header_.block;
    return samples(first, std::min(header_.block, header_.samples - first));
  }
  /// A block and the pages beside it that the system maps when it is touched (fault-around), which
  /// would otherwise add up.
  [[nodiscard]] std::span<const std::byte> around(std::int64_t block) const {
    constexpr std::size_t kAround = 1 << 16;
    const auto bytes = bytes_of(block), all = file_.bytes();
    const auto begin = static_cast<std::size_t>(bytes.data() - all.data());
    const std::size_t first = begin - std::min(begin, kAround);
    return all.subspan(first, std::min(begin + bytes.size() + kAround, all.size()) - first);
  }
  [[nodiscard]] std::span<const std::byte> sample(std::int64_t index) const {
    const std::int64_t block = index / header_.block;
    const std::int64_t dropped = last_.note(block);
    if (dropped >= 0) file_.drop(around(dropped));
    check_block(block);
    return samples(index, 1);
  }

  std::string name_;
  MappedFile file_;
  PackHeader header_;
  std::int64_t size_;
  std::vector<std::int32_t> labels_;
  std::unique_ptr<std::atomic<bool>[]> checked_;  // a block each
  mutable LastBlocks last_;
  std::string fingerprint_;
};

}  // namespace

void declare(config::Fields& fields, PackOptions& options) {
  fields.required("file", options.file, "a file that 'train data pack' wrote");
  fields.field(
      "check", options.check,
      "when hashes are checked: of each block when it is first read, or of all on opening");
  declare_common(fields, options);
}

DatasetPtr open_pack(const PackOptions& options) {
  auto pack = std::make_unique<PackDataset>(located(options.file), options.limit);
  if (options.check == PackCheck::opening) {
    each_sample(available_cores(), pack->blocks(),
                [&](std::int64_t block) { pack->check_block(block); });
  }
  return pack;
}

}  // namespace trainyard
