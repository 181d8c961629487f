// The executors of the CPU: for convolutions oneDNN, or Winograd kernels of ours where they are
// chosen; own products, batch norm and pooling; functors for the rest.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/filesystem.h"
#include "compute/conv/choice_cache.h"
#include "compute/executor.h"

namespace trainyard {

struct CpuExecutorSettings {
  /// Convolutions of 3x3 at stride 1. off: oneDNN's direct form. accurate: what is fastest, as
  /// measured when executors are built, where a layer has enough arithmetic, of the forms with
  /// small rounding errors (winograd/algorithms.h). fast: of all forms. fewest: of those with small
  /// errors the one with the fewest products, whatever the time. two, four_by_two, four: F(2x2,
  /// 3x3), F(4x2, 3x3) or F(4x4, 3x3) wherever possible.
  enum class Winograd { off, accurate, fast, fewest, two, four_by_two, four };
  Winograd winograd = Winograd::off;
  /// Where timed choices are stored, for all runs on this machine; empty: nowhere.
  fs::path engine_folder;
  using EngineSource = trainyard::EngineSource;
  EngineSource engines_of = EngineSource::earlier_run;
  /// Earlier choices (ExecutorFactory::choices()), which take precedence over all others; or empty.
  std::string engines;
  /// Called before the engines of a convolution are timed, which takes some milliseconds.
  std::function<void()> tick = [] {};
  std::function<void(const std::string&)> warn = [](const std::string&) {};
};

/// True if this processor multiplies bf16 (AVX512-BF16, which all have that have AMX-BF16):
/// without, steps stored in bf16 are refused (Error{bug}).
[[nodiscard]] bool cpu_executors_have_bf16();

/// Stored in f32 or bf16. Throws Error{data} if `engines` does not have the form that
/// choices() writes.
[[nodiscard]] std::unique_ptr<ExecutorFactory> make_cpu_executors(CpuExecutorSettings settings);

}  // namespace trainyard
