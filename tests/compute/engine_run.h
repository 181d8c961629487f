// A run on one GPU that chooses engines, with a scripted cuDNN and scripted times.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/gpu_error.h"
#include "compute/conv/cudnn/engine_tuner.h"
#include "scripted_cudnn.h"

namespace trainyard::testing {

using namespace cudnn;

inline constexpr EnginePolicy kRules{
    .deterministic = true, .f32 = false, .tf32 = false, .workspace_cap = 1000};

/// A run on one GPU: its settings, and its output.
struct EngineRun {
  Library library = scripted_library();
  std::map<std::int64_t, double> milliseconds;  // by engine; without one it fails to run
  std::vector<std::string> warnings;
  std::vector<std::int64_t> tried;    // and timed
  std::vector<std::int64_t> checked;  // run and recorded, not timed
  std::vector<std::int64_t> broken;   // engines that fail these checks
  TrialSubject subject;
  int ticks = 0;
  bool gpu_fails = false;
  std::unique_ptr<EngineBook> book;
  std::unique_ptr<EngineSearch> search;

  explicit EngineRun(CudaExecutorSettings settings = {}) {
    settings.gpu = "NVIDIA H200";
    settings.warn = [this](const std::string& text) { warnings.push_back(text); };
    book = std::make_unique<EngineBook>(settings, library.version());
    search = std::make_unique<EngineSearch>(
        EngineSearch{.library = library,
                     .device = std::make_shared<cudnn::Descriptor>(
                         library, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, "GPU"),
                     .book = *book,
                     .tune = settings.tune,
                     .tick = [this] { ++ticks; },
                     .make_trial = [this](const TrialSubject& wanted) { return trial(wanted); },
                     .check_gpu = [this] { check_gpu(); }});
  }
  void check_gpu() const {
    if (gpu_fails) throw GpuError("an illegal memory access");
  }
  std::unique_ptr<EngineTrial> trial(const TrialSubject& wanted);
  EngineChoice choose(std::int64_t bias = 0, const ConvGraph& graph = small_conv(DType::bf16)) {
    return choose_engine(*search, graph, bias, kRules).choice;
  }
  [[nodiscard]] std::string key() const { return choice_key(small_conv(DType::bf16), 0, kRules); }
};

class ScriptedTrial final : public EngineTrial {
 public:
  explicit ScriptedTrial(EngineRun& run) : run_(run) {}
  TrialResult run(const EnginePlan& plan, double) override {
    run_.tried.push_back(plan.choice.engine);
    run_.check_gpu();
    const auto found = run_.milliseconds.find(plan.choice.engine);
    if (found == run_.milliseconds.end()) return {.refusal = "cannot be recorded"};
    return {.milliseconds = found->second};
  }
  std::string refusal_of(const EnginePlan& plan) override {
    const std::int64_t engine = plan.choice.engine;
    CHECK_FALSE(run_.subject.timed);
    run_.checked.push_back(engine);
    run_.check_gpu();
    return std::ranges::find(run_.broken, engine) == run_.broken.end() ? "" : "does not run";
  }

 private:
  EngineRun& run_;
};

inline std::unique_ptr<EngineTrial> EngineRun::trial(const TrialSubject& wanted) {
  subject = wanted;
  return std::make_unique<ScriptedTrial>(*this);
}

/// The initial engines of a run that knows `engine` for the small convolution.
inline std::string engines_with(const EngineChoice& engine) {
  const Json all{{choice_key(small_conv(DType::bf16), 0, kRules), json_of(engine)}};
  return json_text(all);
}

}  // namespace trainyard::testing
