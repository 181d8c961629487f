#include "data/sets/class_numbering.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "config/diagnostics.h"
#include "data/sets/set_view.h"

namespace trainyard {
namespace {

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

/// A set with other labels. files() has those that the fingerprint is of, the set's own.
class NumberedSet final : public SetView {
 public:
  NumberedSet(DatasetPtr set, const ClassNumbering& numbering, std::vector<std::int32_t> labels)
      : SetView(std::move(set)),
        names_(numbering.names),
        classes_(numbering.classes),
        labels_(std::move(labels)) {}

  [[nodiscard]] std::int64_t classes() const override { return classes_; }
  [[nodiscard]] std::vector<std::string> class_names() const override { return names_; }
  [[nodiscard]] std::int32_t label(std::int64_t index) const override {
    return labels_[static_cast<std::size_t>(index)];
  }
  void read_field(std::size_t field, std::int64_t index, std::byte* out) const override {
    if (field > 0) return SetView::read_field(field, index, out);
    const std::int32_t own = label(index);
    std::memcpy(out, &own, sizeof own);
  }
  [[nodiscard]] HeldSamples held() const override {
    HeldSamples held = set().held();
    if (!held.labels.empty()) held.labels = labels_;
    return held;
  }

 private:
  std::vector<std::string> names_;
  std::int64_t classes_;
  std::vector<std::int32_t> labels_;
};

}  // namespace

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
