#include "run/session/session_weights.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "config/diagnostics.h"
#include "run/config/losses.h"

namespace trainyard {

namespace {

using Kind = config::Node::Kind;

/// The labels of sample `index`: one, or one for each position. The label is the first field.
void read_labels(const Dataset& set, std::int64_t index, std::span<std::int32_t> labels) {
  if (labels.size() == 1) {
    labels[0] = set.label(index);
  } else {
    set.read_field(0, index, std::as_writable_bytes(labels).data());
  }
}

std::size_t label_count(const Dataset& set) {
  return static_cast<std::size_t>(set.fields().at(0).shape.elements());
}

std::vector<std::int32_t> labels_of(const Dataset& set) {
  const std::size_t each = label_count(set);
  std::vector<std::int32_t> labels(static_cast<std::size_t>(set.size()) * each);
  for (std::int64_t i = 0; i < set.size(); ++i) {
    read_labels(set, i, std::span(labels).subspan(static_cast<std::size_t>(i) * each, each));
  }
  return labels;
}

/// The classes by name and by number.
std::vector<std::string> known_classes(const Dataset& set) {
  std::vector<std::string> names = set.class_names();
  for (std::int64_t i = 0; i < set.classes(); ++i) names.push_back(std::to_string(i));
  return names;
}

std::vector<float> written_weights(const config::Node& written, const Dataset& set) {
  const std::vector<std::string> known = known_classes(set);
  const std::size_t named = set.class_names().size();
  std::vector<float> weights(static_cast<std::size_t>(set.classes()), 1.0F);
  config::Diagnostics diagnostics;
  for (const config::Entry& entry : written.entries) {
    const auto found = std::ranges::find(known, entry.key);
    if (found == known.end()) {
      diagnostics.error(entry.where, "class_weights: the data have no class '" + entry.key + "'" +
                                         config::suggestion(entry.key, known));
      continue;
    }
    if (!entry.value.is_number() || !(entry.value.real >= 0) || !std::isfinite(entry.value.real)) {
      diagnostics.error(
          entry.value.where,
          "class_weights: expected a weight of at least 0, found " + config::describe(entry.value));
      continue;
    }
    const auto index = static_cast<std::size_t>(found - known.begin());
    weights[index < named ? index : index - named] = static_cast<float>(entry.value.real);
  }
  diagnostics.raise();
  return weights;
}

std::vector<float> class_weights(const WeightsConfig& config, const Dataset& train,
                                 const std::optional<std::int32_t>& ignored) {
  const config::Node& written = config.classes;
  if (written.kind == Kind::map) {
    return written.entries.empty() ? std::vector<float>{} : written_weights(written, train);
  }
  if (written.kind == Kind::text && written.text == "balanced") {
    return balanced_weights(labels_of(train), train.classes(), ignored);
  }
  throw config_error(
      written.where.text() +
      ": class_weights: expected a map of classes and weights, or 'balanced', found " +
      config::describe(written));
}

/// False for a regression on other fields of the data.
bool reads_labels(const RunConfig& run) {
  const bool weighed =
      run.weights.classes.kind != Kind::map || !run.weights.classes.entries.empty();
  const bool measured =
      std::ranges::any_of(run.metrics, [](const auto& metric) { return !metric->of_target(); });
  return weighed || run.weights.ignore_label || measured ||
         std::ranges::any_of(losses_of(run),
                             [](const auto& loss) { return loss->values().target == kLabelField; });
}

[[noreturn]] void refuse(const RunConfig& run, const std::string& found) {
  throw config_error(run.data.train.where.text() +
                     ": 'sampler: {balanced: ...}' draws samples by their class, but " + found +
                     "; remove 'sampler'");
}

std::string sample_at(std::int64_t index) {
  return "sample " + std::to_string(index) + " (from 0) of the training split";
}

/// The labels to balance, -1 for ignored samples.
std::vector<std::int32_t> checked_labels(const RunConfig& run, const Dataset& train) {
  std::vector<std::int32_t> labels;
  std::set<std::int32_t> classes;
  for (std::int64_t i = 0; i < train.size(); ++i) {
    const std::int32_t label = train.label(i);
    const bool ignored = label == run.weights.ignore_label;
    labels.push_back(ignored ? -1 : label);
    if (ignored) continue;
    if (label < 0 || label >= train.classes()) {
      refuse(run, sample_at(i) + " has label " + std::to_string(label) + ", which is not a class");
    }
    classes.insert(label);
  }
  if (classes.empty()) refuse(run, "'ignore_label' leaves out every sample");
  if (classes.size() == 1) {
    refuse(run,
           "all samples of the training split are of class " + std::to_string(*classes.begin()));
  }
  return labels;
}

}  // namespace

void require_classes(const RunConfig& run, const Dataset& set) {
  if (set.classes() > 0 || !reads_labels(run)) return;
  std::vector<std::string> names;
  for (const SampleField& field : set.fields()) {
    if (field.name != kLabelField) names.push_back("'" + field.name + "'");
  }
  throw config_error(
      "the data have no labels, which a loss, a metric or a weight of the run reads; give losses a "
      "'target', " +
      joined(names) + ", and measure mae, rmse, r2 or mean_average_precision");
}

void require_labels(const RunConfig& run, const Dataset& set, const std::string& what) {
  if (!reads_labels(run)) return;
  const std::optional<std::int64_t> ignored = run.weights.ignore_label;
  std::vector<std::int32_t> labels(label_count(set));
  for (std::int64_t i = 0; i < set.size(); ++i) {
    read_labels(set, i, labels);
    const auto found = std::ranges::find_if(
        labels, [&](std::int32_t label) { return label < 0 && label != ignored; });
    if (found == labels.end()) continue;
    throw config_error("sample " + std::to_string(i) + " (from 0) of " + what + " has label " +
                       std::to_string(*found) +
                       ", which is not a class; to leave out such samples, set 'ignore_label: " +
                       std::to_string(*found) + "'");
  }
}

void require_mixable(const RunConfig& run, const Dataset& train, const Shape& sample) {
  const DataConfig& config = run.data;
  if (!config.mix) return;
  const std::string of = "'mix' is for images and tables with one label each, but ";
  const auto refuse = [&](const std::string& text) {
    throw config_error(config.mix_at.text() + ": " + text + "; remove it");
  };
  if (!has_images(train)) refuse(of + "the samples are sequences " + sample_text(train));
  if (train.fields().at(0).shape.elements() != 1) refuse(of + "these have a label for each step");
  if (config.mix->cutmix == 0 || (sample[1] > 1 && sample[2] > 1)) return;
  refuse("'cutmix' pastes parts of images, but the samples are " + sample_text(train));
}

std::optional<ClassWeightPolicy> class_weight_policy(const RunConfig& run, const Dataset& train,
                                                     const std::string& mask) {
  const WeightsConfig& config = run.weights;
  std::optional<std::int32_t> ignored;
  if (config.ignore_label) ignored = static_cast<std::int32_t>(*config.ignore_label);
  require_labels(run, train, "the training split");
  if (!config.any() && mask.empty()) return std::nullopt;
  return ClassWeightPolicy{.of_class = class_weights(config, train, ignored),
                           .ignored = ignored,
                           .field = config.samples,
                           .mask = mask};
}

std::shared_ptr<const BalancedSampler> sampler_of(const RunConfig& run, const Dataset& train) {
  if (!run.data.train.sampler || run.data.train.repeats() > 1) return nullptr;
  const std::int64_t labels = train.fields().at(0).shape.elements();
  if (labels != 1) refuse(run, "each of its samples has " + std::to_string(labels) + " labels");
  return std::make_shared<BalancedSampler>(checked_labels(run, train), train.classes(),
                                           run.data.train.sampler->balanced);
}

}  // namespace trainyard
