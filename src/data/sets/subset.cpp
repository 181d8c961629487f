#include "data/sets/subset.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "base/philox.h"
#include "data/sets/memory_dataset.h"
#include "data/sets/set_view.h"

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
class Subset final : public SetView {
 public:
  Subset(std::unique_ptr<const Dataset> set, std::vector<std::int64_t> indices)
      : SetView(std::move(set)),
        indices_(std::move(indices)),
        fingerprint_(fingerprint_of(this->set(), indices_)) {}

  [[nodiscard]] std::int64_t size() const override { return std::ssize(indices_); }
  [[nodiscard]] std::string fingerprint() const override { return fingerprint_; }
  [[nodiscard]] SampleFiles files() const override { return files_of(set(), indices_); }

 protected:
  [[nodiscard]] std::int64_t at(std::int64_t index) const override {
    return indices_[static_cast<std::size_t>(index)];
  }

 private:
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

}  // namespace trainyard
