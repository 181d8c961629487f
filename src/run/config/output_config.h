// The run file's key `output`: what a run writes besides its metrics and checkpoints.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "config/fields.h"
#include "run/config/generate_config.h"

namespace trainyard {

struct PlotConfig {
  enum class Style { panels, guide } style = Style::panels;
  std::string title;
};

[[nodiscard]] constexpr config::Words<PlotConfig::Style> words(PlotConfig::Style) {
  return {"panels", "guide"};
}

struct OutputConfig {
  std::optional<PlotConfig> plot = PlotConfig{};
  bool steps = false;
  bool classes = false;
  bool tensorboard = false;
  std::optional<GenerateConfig> generate;
};

void declare(config::Fields& fields, PlotConfig& plot);
void declare(config::Fields& fields, OutputConfig& output);

}  // namespace trainyard
