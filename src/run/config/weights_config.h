// The run file's keys on weights: `class_weights`, `ignore_label`, `sample_weights`,
// `weigh_validation`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/fields.h"
#include "config/node.h"

namespace trainyard {

/// The weights of samples in losses.
struct WeightsConfig {
  config::Node classes{.kind = config::Node::Kind::map};  // class: weight, or 'balanced'
  std::optional<std::int64_t> ignore_label;
  std::string samples;      // field of the data; "": none
  bool validation = false;  // also in validation

  /// True if samples have weights.
  [[nodiscard]] bool any() const {
    return classes.kind != config::Node::Kind::map || !classes.entries.empty() || ignore_label ||
           !samples.empty();
  }
};

/// Declares them in the map of the run itself.
void declare_weights(config::Fields& fields, WeightsConfig& weights);

}  // namespace trainyard
