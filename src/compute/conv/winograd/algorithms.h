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
enum class ConvAlgorithm { direct, two, four_by_two, four };

/// The direct algorithm, and those with small rounding errors over the channels that `conv` sums:
/// F(2x2, 3x3) from 16 channels on, with about the errors of the direct form, and F(4x2, 3x3) from
/// 64 on, with at most twice these. Ten training steps of whole networks with them stay as near to
/// PyTorch's in double as with the direct form (tests/golden). With fewer channels errors of
/// F(4x2, 3x3) are larger than half of what is permitted there, and those of F(4x4, 3x3), three
/// times the direct ones, too large. tests/compute/rounding_model.h derives the errors.
[[nodiscard]] std::vector<ConvAlgorithm> accurate_algorithms(const ConvStep& conv);

/// Makes the direct form of a step.
using MakeDirect = std::function<std::unique_ptr<Executor>(const StepDescription&)>;

class ConvAlgorithms {
 public:
  /// `library`: that of the direct form, with its version.
  ConvAlgorithms(CpuExecutorSettings settings, const std::string& library);

  /// The executor of a convolution's step.
  [[nodiscard]] std::unique_ptr<Executor> make(const StepDescription& step,
                                               const MakeDirect& direct);
  /// The algorithms of all steps so far that had a choice, as a JSON object.
  [[nodiscard]] std::string chosen() const;

 private:
  [[nodiscard]] ConvAlgorithm choose(const StepDescription& step, const ConvStep& conv,
                                     std::span<const ConvAlgorithm> algorithms,
                                     const MakeDirect& direct);
  /// Chosen before; what is stored on this machine counts only if it is among `algorithms`.
  [[nodiscard]] std::optional<ConvAlgorithm> known(const std::string& key,
                                                   std::span<const ConvAlgorithm> algorithms) const;

  CpuExecutorSettings settings_;
  ChoiceCache cache_;
  std::map<std::string, ConvAlgorithm> earlier_, used_;
};

/// Everything that a choice depends on besides processor and library: pass and shapes of one image.
/// Bits depend on the algorithm alone, so neither batch nor threads belong to it, and all of a
/// run's programs, its evaluation too, have the same algorithm.
[[nodiscard]] std::string choice_key(const ConvStep& conv);

/// An executor of `algorithm`.
[[nodiscard]] std::unique_ptr<Executor> make_algorithm(ConvAlgorithm algorithm,
                                                       const StepDescription& step,
                                                       const MakeDirect& direct);

}  // namespace trainyard::winograd
