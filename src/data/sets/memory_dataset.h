// A dataset whose samples are in memory, as bytes or as floats.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "data/sets/dataset.h"

namespace trainyard {

/// A field of a MemoryDataset besides the label.
struct MemoryField {
  SampleField of;
  std::vector<std::byte> values = {};  // [n, of.shape]
};

/// A field of whole numbers.
[[nodiscard]] MemoryField field_of(SampleField of, const std::vector<std::int32_t>& numbers);

/// Adds the names and values of fields; nothing if there are none.
void add_to_hash(Hash128& hash, std::span<const MemoryField> fields);

/// The contents of a MemoryDataset. Exactly one of `bytes` and `floats` is filled, [n, c, h, w];
/// neither if samples have no image.
struct MemorySamples {
  Shape image;  // [c, h, w], or kNoImage
  std::vector<std::uint8_t> bytes = {};
  std::vector<float> floats = {};
  std::vector<std::int32_t> labels = {};  // [n], or [n, t] with a label for each position
  Shape label = {};                       // shape of one sample's labels: of rank 0, or [t]
  std::vector<MemoryField> fields = {};   // after the label
  std::int64_t classes = 0;
  std::vector<std::string> class_names = {};
  std::shared_ptr<const Vocabulary> vocabulary = nullptr;  // words of tokens, which are a field
  std::shared_ptr<const TableForm> table = nullptr;  // form of the columns that samples are made of
  std::string fingerprint = "";
  SampleFiles files = {};                  // without a limit
  std::vector<std::int64_t> origins = {};  // Dataset::origin(); empty: the samples' own indices
};

class MemoryDataset final : public Dataset {
 public:
  /// Takes at most the first `limit` samples (0: all). Labels must be in [0, classes).
  explicit MemoryDataset(MemorySamples samples, std::int64_t limit = 0);
  /// Samples in memory that `owner` keeps alive; `samples` has everything else, their
  /// fields without values.
  MemoryDataset(MemorySamples samples, const HeldSamples& held, std::shared_ptr<const void> owner);
  MemoryDataset(const MemoryDataset&) = delete;
  MemoryDataset& operator=(const MemoryDataset&) = delete;

  [[nodiscard]] std::int64_t size() const override;
  [[nodiscard]] Shape image_shape() const override { return samples_.image; }
  [[nodiscard]] std::int64_t classes() const override { return samples_.classes; }
  [[nodiscard]] std::vector<std::string> class_names() const override {
    return samples_.class_names;
  }
  void read(std::int64_t index, float* image) const override;
  [[nodiscard]] std::int32_t label(std::int64_t index) const override;
  [[nodiscard]] std::vector<SampleField> fields() const override;
  void read_field(std::size_t field, std::int64_t index, std::byte* out) const override;
  [[nodiscard]] const Vocabulary* vocabulary() const override { return samples_.vocabulary.get(); }
  [[nodiscard]] const TableForm* table() const override { return samples_.table.get(); }
  [[nodiscard]] std::string fingerprint() const override { return samples_.fingerprint; }
  [[nodiscard]] SampleFiles files() const override { return samples_.files; }
  [[nodiscard]] std::string file(std::int64_t index) const override;
  [[nodiscard]] std::int64_t origin(std::int64_t index) const override;
  [[nodiscard]] HeldSamples held() const override { return held_; }

 private:
  [[nodiscard]] std::size_t labels_each() const {
    return static_cast<std::size_t>(samples_.label.elements());
  }
  void check() const;
  void hold();

  MemorySamples samples_;
  HeldSamples held_;
  std::shared_ptr<const void> owner_;  // null: samples_ owns them
};

}  // namespace trainyard
