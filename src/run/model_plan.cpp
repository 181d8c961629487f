#include "run/model_plan.h"

#include <fmt/format.h>

namespace trainyard {

MemoryForecast forecast(const Model& model) {
  const std::size_t element = size_of(model.memory().type());
  const BlockLayout& blocks = model.blocks();
  const auto bytes = [&](std::int64_t elements) {
    return static_cast<std::size_t>(elements) * element;
  };
  MemoryForecast result{.weights = bytes(blocks.parameter_elements + blocks.statistic_elements),
                        .gradients = bytes(blocks.gradient_elements()),
                        .optimizer = bytes(blocks.parameter_elements * model.memory().slots()),
                        .activations = model.transient_bytes()};
  const std::size_t known = result.weights + result.gradients + result.optimizer;
  result.inputs = model.memory().bytes() > known ? model.memory().bytes() - known : 0;
  return result;
}

std::string forecast_text(const MemoryForecast& forecast) {
  const auto mib = [](std::size_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
  return fmt::format(
      "memory: {:.1f} MiB = {:.1f} weights + {:.1f} gradients + {:.1f} optimizer + {:.1f} input + "
      "{:.1f} activations and workspace",
      mib(forecast.total()), mib(forecast.weights), mib(forecast.gradients),
      mib(forecast.optimizer), mib(forecast.inputs), mib(forecast.activations));
}

std::string plan_text(const TrainingGraph& graph, const SessionDevice& device) {
  const Model model(graph, *device.device, *device.executors,
                    {.target = device.target, .threads = device.threads, .slots = 1});
  return text_of(model.train().plan());
}

}  // namespace trainyard
