// How a convolution is computed on the CPU: chosen by timing when executors are built, or as chosen
// before, in an earlier run, by rank 0, or by another run on this machine.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/conv/choice_cache.h"
#include "compute/conv/conv_step.h"
#include "compute/devices/cpu_executors.h"

namespace trainyard::winograd {

/// In the order of the products that they take.
enum class Engine { direct, two, four_by_two, four };

/// The direct engine, and those with small rounding errors over the channels that `conv` sums:
/// F(2x2, 3x3) from 16 channels on, with about the errors of the direct form, and F(4x2, 3x3) from
/// 64 on, with at most twice these. Ten training steps of whole networks with them stay as near to
/// PyTorch's in double as with the direct form (tests/golden). With fewer channels errors of
/// F(4x2, 3x3) are larger than half of what is permitted there, and those of F(4x4, 3x3), three
/// times the direct ones, too large. tests/compute/rounding_model.h derives the errors.
[[nodiscard]] std::vector<Engine> accurate_engines(const ConvStep& conv);

/// Makes the direct form of a step.
using MakeDirect = std::function<std::unique_ptr<Executor>(const StepDescription&)>;

class Engines {
 public:
  /// `library`: that of the direct form, with its version.
  Engines(CpuExecutorSettings settings, const std::string& library);

  /// The executor of a convolution's step.
  [[nodiscard]] std::unique_ptr<Executor> make(const StepDescription& step,
                                               const MakeDirect& direct);
  /// The engines of all steps so far that had a choice, as a JSON object.
  [[nodiscard]] std::string chosen() const;

 private:
  [[nodiscard]] Engine choose(const StepDescription& step, const ConvStep& conv,
                              std::span<const Engine> engines, const MakeDirect& direct);
  /// Chosen before; what is stored on this machine counts only if it is among `engines`.
  [[nodiscard]] std::optional<Engine> known(const std::string& key,
                                            std::span<const Engine> engines) const;

  CpuExecutorSettings settings_;
  ChoiceCache cache_;
  std::map<std::string, Engine> earlier_, used_;
};

/// Everything that a choice depends on besides processor and library: pass and shapes of one image.
/// Bits depend on the engine alone, so neither batch nor threads belong to it, and all of a run's
/// programs, its evaluation too, have the same engine.
[[nodiscard]] std::string choice_key(const ConvStep& conv);

/// An executor of `engine`.
[[nodiscard]] std::unique_ptr<Executor> make_engine(Engine engine, const StepDescription& step,
                                                    const MakeDirect& direct);

}  // namespace trainyard::winograd
