#include "run/session/session_sampler.h"

#include <set>
#include <string>
#include <vector>

#include "base/error.h"

namespace trainyard {
namespace {

[[noreturn]] void refuse(const RunConfig& run, const std::string& found) {
  throw Error(ErrorKind::config, run.data.train.where.text() +
                                     ": 'sampler: {balanced: ...}' draws samples by their class, "
                                     "but " +
                                     found + "; remove 'sampler'");
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
      refuse(run, sample_at(i) + " has label " + std::to_string(label) + ", which is no class");
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

std::shared_ptr<const BalancedSampler> sampler_of(const RunConfig& run, const Dataset& train) {
  if (!run.data.train.sampler) return nullptr;
  const std::int64_t labels = train.fields().at(0).shape.elements();
  if (labels != 1) refuse(run, "each of its samples has " + std::to_string(labels) + " labels");
  return std::make_shared<BalancedSampler>(checked_labels(run, train), train.classes(),
                                           run.data.train.sampler->balanced);
}

}  // namespace trainyard
