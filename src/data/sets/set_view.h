// A data set whose samples are those of another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/sets/dataset.h"

namespace trainyard {

/// Samples of another set. What differs from it is overridden.
class SetView : public Dataset {
 public:
  explicit SetView(std::unique_ptr<const Dataset> set) : set_(std::move(set)) {}

  [[nodiscard]] std::int64_t size() const override { return set_->size(); }
  [[nodiscard]] Shape image_shape() const override { return set_->image_shape(); }
  [[nodiscard]] Shape sample_shape(std::int64_t index) const override {
    return set_->sample_shape(at(index));
  }
  [[nodiscard]] std::int64_t classes() const override { return set_->classes(); }
  [[nodiscard]] std::vector<std::string> class_names() const override {
    return set_->class_names();
  }
  void read(std::int64_t index, float* image) const override { set_->read(at(index), image); }
  [[nodiscard]] std::int32_t label(std::int64_t index) const override {
    return set_->label(at(index));
  }
  [[nodiscard]] std::vector<SampleField> fields() const override { return set_->fields(); }
  void read_field(std::size_t field, std::int64_t index, std::byte* out) const override {
    set_->read_field(field, at(index), out);
  }
  [[nodiscard]] const Vocabulary* vocabulary() const override { return set_->vocabulary(); }
  [[nodiscard]] const TableForm* table() const override { return set_->table(); }
  [[nodiscard]] std::string fingerprint() const override { return set_->fingerprint(); }
  [[nodiscard]] SampleFiles files() const override { return set_->files(); }
  [[nodiscard]] std::string file(std::int64_t index) const override {
    return set_->file(at(index));
  }
  [[nodiscard]] std::int64_t origin(std::int64_t index) const override {
    return set_->origin(at(index));
  }
  [[nodiscard]] bool eight_bit() const override { return set_->eight_bit(); }
  void read_bytes(std::int64_t index, std::uint8_t* image) const override {
    set_->read_bytes(at(index), image);
  }
  [[nodiscard]] std::int64_t block() const override { return set_->block(); }

 protected:
  /// The other set's index of a sample.
  [[nodiscard]] virtual std::int64_t at(std::int64_t index) const { return index; }
  [[nodiscard]] const Dataset& set() const { return *set_; }

 private:
  std::unique_ptr<const Dataset> set_;
};

}  // namespace trainyard
