#include "data/sets/subset.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "base/philox.h"
#include "config/diagnostics.h"
#include "data/sets/memory_dataset.h"

namespace trainyard {
namespace {

std::string fingerprint_of(const Dataset& set, const std::vector<std::int64_t>& indices) {
  Hash128 hash;
  hash.update(set.fingerprint());
  hash.update(std::as_bytes(std::span(indices)));
  return hash.hex();
}

SampleFiles files_of(const Dataset& set, const std::vector<std::int64_t>& indices) {
  SampleFiles all = set.files();
  SampleFiles own{.folder = all.folder, .left_out = std::move(all.left_out)};
  if (all.files.empty()) return own;
  for (const std::int64_t index : indices) {
    own.files.push_back(std::move(all.files[static_cast<std::size_t>(index)]));
  }
  return own;
}

std::vector<std::int64_t> origins_of(const Dataset& set, const std::vector<std::int64_t>& indices) {
  std::vector<std::int64_t> origins;
  for (const std::int64_t index : indices) origins.push_back(set.origin(index));
  return origins;
}

/// Reads from a set that does not hold its samples.
class Subset final : public Dataset {
 public:
  Subset(std::unique_ptr<const Dataset> set, std::vector<std::int64_t> indices)
      : set_(std::move(set)),
        indices_(std::move(indices)),
        fingerprint_(fingerprint_of(*set_, indices_)) {}

  [[nodiscard]] std::int64_t size() const override { return std::ssize(indices_); }
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
  [[nodiscard]] std::string fingerprint() const override { return fingerprint_; }
  [[nodiscard]] SampleFiles files() const override { return files_of(*set_, indices_); }
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

 private:
  [[nodiscard]] std::int64_t at(std::int64_t index) const {
    return indices_[static_cast<std::size_t>(index)];
  }

  std::unique_ptr<const Dataset> set_;
  std::vector<std::int64_t> indices_;
  std::string fingerprint_;
};

template <class T>
std::vector<T> gathered(std::span<const T> from, const std::vector<std::int64_t>& indices,
                        std::int64_t each) {
  std::vector<T> taken;
  if (from.empty()) return taken;
  taken.reserve(indices.size() * static_cast<std::size_t>(each));
  for (const std::int64_t index : indices) {
    const auto sample =
        from.subspan(static_cast<std::size_t>(index * each), static_cast<std::size_t>(each));
    taken.insert(taken.end(), sample.begin(), sample.end());
  }
  return taken;
}

/// The fields after the label.
std::vector<MemoryField> gathered_fields(const Dataset& set, const HeldSamples& held,
                                         const std::vector<std::int64_t>& indices) {
  const std::vector<SampleField> all = set.fields();
  std::vector<MemoryField> taken;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const auto bytes = static_cast<std::int64_t>(all[i].bytes());
    taken.push_back({all[i], gathered(held.fields[i - 1], indices, bytes)});
  }
  return taken;
}

/// What orders the samples of a class: their hashes as text, ties by index.
std::string key_of(const Dataset& set, std::uint64_t seed, std::int64_t index) {
  return hash128_hex(std::to_string(seed) + "\n" + sample_name(set, index));
}

/// Share of a class, to the nearest whole number, but never its last sample.
std::size_t val_samples_of(std::size_t samples, double fraction) {
  const double share = std::floor(static_cast<double>(samples) * fraction + 0.5);
  return std::min(static_cast<std::size_t>(share), samples - 1);
}

std::vector<bool> val_by_name(const Dataset& set, const Divided& how) {
  std::map<std::int32_t, std::vector<std::pair<std::string, std::int64_t>>> classes;
  for (std::int64_t i = 0; i < set.size(); ++i) {
    classes[set.label(i)].emplace_back(key_of(set, how.seed, i), i);
  }
  std::vector<bool> is_val(static_cast<std::size_t>(set.size()));
  for (auto& [label, keyed] : classes) {
    std::ranges::sort(keyed);
    keyed.resize(val_samples_of(keyed.size(), how.fraction));
    for (const auto& [key, index] : keyed) is_val[static_cast<std::size_t>(index)] = true;
  }
  return is_val;
}

std::vector<bool> val_by_index(const Dataset& set, const Divided& how) {
  std::vector<std::tuple<std::int32_t, std::uint64_t, std::int64_t>> keyed;
  for (std::int64_t i = 0; i < set.size(); ++i) {
    const Random4 random =
        random4(how.seed, RandomStream::order, 0, 9, static_cast<std::uint64_t>(i));
    keyed.emplace_back(set.label(i), (std::uint64_t{random.word[1]} << 32) | random.word[0], i);
  }
  std::sort(keyed.begin(), keyed.end());
  std::vector<bool> is_val(static_cast<std::size_t>(set.size()));
  for (std::size_t i = 0; i < keyed.size(); ++i) {
    const auto before = static_cast<double>(i);
    const bool val = std::floor((before + 1) * how.fraction) > std::floor(before * how.fraction);
    is_val[static_cast<std::size_t>(std::get<2>(keyed[i]))] = val;
  }
  return is_val;
}

class PartSource final : public DatasetSource {
 public:
  PartSource(std::shared_ptr<const DatasetSource> whole, double fraction, Part part)
      : whole_(std::move(whole)), fraction_(fraction), part_(part) {}
  [[nodiscard]] std::string_view name() const override { return whole_->name(); }
  [[nodiscard]] DatasetPtr open(const Opening& opening) const override {
    DatasetPtr own = whole_->open_part(opening, fraction_, part_);
    if (own) return own;
    std::unique_ptr<const Dataset> whole = whole_->open(opening);
    std::vector<std::int64_t> indices = part_of(
        *whole, {.fraction = fraction_, .seed = opening.seed, .by = opening.division}, part_);
    return subset(std::move(whole), std::move(indices));
  }

 private:
  std::shared_ptr<const DatasetSource> whole_;
  double fraction_;
  Part part_;
};

/// The label of each sample by the numbering.
std::vector<std::int32_t> numbered_labels(const Dataset& set, const ClassNumbering& numbering,
                                          const std::string& what) {
  const std::vector<std::string> own = set.class_names();
  std::vector<std::int32_t> label_of(static_cast<std::size_t>(set.classes()), -1);
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto found = std::ranges::find(numbering.names, own[i]);
    if (found == numbering.names.end()) continue;
    label_of[i] = static_cast<std::int32_t>(found - numbering.names.begin());
  }
  std::vector<std::int32_t> labels;
  labels.reserve(static_cast<std::size_t>(set.size()));
  for (std::int64_t i = 0; i < set.size(); ++i) {
    const std::int32_t label = set.label(i);
    if (label < 0) {
      labels.push_back(label);
      continue;
    }
    const auto at = static_cast<std::size_t>(label);
    labels.push_back(label_of.at(at));
    if (labels.back() >= 0) continue;
    const std::string name = at < own.size() ? own[at] : "class " + std::to_string(label);
    throw data_error(
        what + " has the class '" + name + "', which " + numbering.of + " does not have" +
        config::suggestion(name, numbering.names) +
        "; classes are matched by their names: give them the same ones, or leave that class out");
  }
  return labels;
}

/// A set with other labels.
class NumberedSet final : public Dataset {
 public:
  NumberedSet(DatasetPtr set, const ClassNumbering& numbering, std::vector<std::int32_t> labels)
      : set_(std::move(set)),
        names_(numbering.names),
        classes_(numbering.classes),
        labels_(std::move(labels)) {}

  [[nodiscard]] std::int64_t size() const override { return set_->size(); }
  [[nodiscard]] Shape image_shape() const override { return set_->image_shape(); }
  [[nodiscard]] Shape sample_shape(std::int64_t index) const override {
    return set_->sample_shape(index);
  }
  [[nodiscard]] std::int64_t classes() const override { return classes_; }
  [[nodiscard]] std::vector<std::string> class_names() const override { return names_; }
  void read(std::int64_t index, float* image) const override { set_->read(index, image); }
  [[nodiscard]] std::int32_t label(std::int64_t index) const override {
    return labels_[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] std::vector<SampleField> fields() const override { return set_->fields(); }
  void read_field(std::size_t field, std::int64_t index, std::byte* out) const override {
    if (field > 0) return set_->read_field(field, index, out);
    const std::int32_t own = label(index);
    std::memcpy(out, &own, sizeof own);
  }
  [[nodiscard]] const Vocabulary* vocabulary() const override { return set_->vocabulary(); }
  [[nodiscard]] const TableForm* table() const override { return set_->table(); }
  [[nodiscard]] std::string fingerprint() const override { return set_->fingerprint(); }
  /// With the labels that the fingerprint is of: the set's own.
  [[nodiscard]] SampleFiles files() const override { return set_->files(); }
  [[nodiscard]] std::string file(std::int64_t index) const override { return set_->file(index); }
  [[nodiscard]] std::int64_t origin(std::int64_t index) const override {
    return set_->origin(index);
  }
  [[nodiscard]] HeldSamples held() const override {
    HeldSamples held = set_->held();
    if (!held.labels.empty()) held.labels = labels_;
    return held;
  }
  [[nodiscard]] bool eight_bit() const override { return set_->eight_bit(); }
  void read_bytes(std::int64_t index, std::uint8_t* image) const override {
    set_->read_bytes(index, image);
  }
  [[nodiscard]] std::int64_t block() const override { return set_->block(); }

 private:
  DatasetPtr set_;
  std::vector<std::string> names_;
  std::int64_t classes_;
  std::vector<std::int32_t> labels_;
};

}  // namespace

DatasetPtr subset(std::unique_ptr<const Dataset> set, std::vector<std::int64_t> indices) {
  const HeldSamples held = set->held();
  if (held.labels.empty()) return std::make_unique<Subset>(std::move(set), std::move(indices));
  const SampleForm form = following({}, *set).form;
  const std::int64_t elements = set->image_shape().elements();
  const Shape label = set->fields()[0].shape;
  MemorySamples samples{.image = set->image_shape(),
                        .bytes = gathered(held.bytes, indices, elements),
                        .floats = gathered(held.floats, indices, elements),
                        .labels = gathered(held.labels, indices, label.elements()),
                        .label = label,
                        .fields = gathered_fields(*set, held, indices),
                        .classes = set->classes(),
                        .class_names = set->class_names(),
                        .vocabulary = form.vocabulary,
                        .table = form.table,
                        .fingerprint = fingerprint_of(*set, indices),
                        .files = files_of(*set, indices),
                        .origins = origins_of(*set, indices)};
  return std::make_unique<MemoryDataset>(std::move(samples));
}

std::vector<std::int64_t> part_of(const Dataset& set, const Divided& how, Part part) {
  const std::vector<bool> is_val =
      how.by == Division::by_name ? val_by_name(set, how) : val_by_index(set, how);
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < set.size(); ++i) {
    const bool val = is_val[static_cast<std::size_t>(i)];
    if (val == (part == Part::val)) indices.push_back(i);
  }
  if (indices.empty()) {
    throw config_error("val_fraction: of " + std::to_string(set.size()) +
                       " samples none remains for " +
                       (part == Part::val ? "validation; use a larger fraction"
                                          : "training; use a smaller fraction") +
                       " or more samples");
  }
  return indices;
}

std::shared_ptr<const DatasetSource> part_source(std::shared_ptr<const DatasetSource> whole,
                                                 double fraction, Part part) {
  return std::make_shared<PartSource>(std::move(whole), fraction, part);
}

DatasetPtr numbered_as(DatasetPtr set, const ClassNumbering& numbering, const std::string& what) {
  const std::vector<std::string> own = set->class_names();
  const bool same = own == numbering.names && set->classes() == numbering.classes;
  const bool named = !own.empty() && !numbering.names.empty();
  const bool one_label = set->fields().at(0).shape.elements() == 1;
  if (same || !named || !one_label) return set;
  std::vector<std::int32_t> labels = numbered_labels(*set, numbering, what);
  return std::make_unique<NumberedSet>(std::move(set), numbering, std::move(labels));
}

}  // namespace trainyard
