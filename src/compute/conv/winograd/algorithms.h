// Convolutions of 3x3 at stride 1, and their gradients of the input, by Winograd's minimal
// filtering.
//
// The folder winograd holds kernels of ours for AVX2 and AVX-512, and the choice between them and
// the direct form. Tiles are transformed, multiplied and transformed back in blocks that stay in
// the L2 cache. Each output is computed by one thread in one order: bits depend neither on the
// number of threads, nor on the batch, nor on AVX2 or AVX-512.
//
// Gains: ResNet-20 1020 images/s instead of 839, MiniGoogLeNet 183 instead of 153, Keras CNN 1903
// instead of 1644, on two threads in float32 (machine E; docs/results/log/exactness.md). None in
// bf16.
//
// How a convolution is computed on the CPU: chosen by timing when executors are built, or as chosen
// before, in an earlier run, by rank 0, or by another run on this machine.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/conv/choice_cache.h"
#include "compute/conv/conv_step.h"
#include "compute/conv/winograd/kernels.h"
#include "compute/devices/cpu_executors.h"

namespace trainyard::winograd {

/// True if make_winograd() supports the step: an output or a gradient of the input, 3x3, stride and
/// dilation 1, one group, margins of 0 to 2, both maps in blocks of 8 channels, or of 16 with
/// AVX-512.
[[nodiscard]] bool supports(const ConvStep& conv);

/// In units of 2^-24 of the root mean square of the outputs, errors have a root mean square of
/// about 3 for F(2x2, 3x3), 6 for F(4x2, 3x3) and 11 for F(4x4, 3x3), whatever the number of
/// channels (the direct form: 3.6 with AVX-512, 7 over 64 channels with AVX2);
/// tests/compute/rounding_model.h derives this.
[[nodiscard]] ExecutorPtr make_winograd(const ConvStep& conv, Tile tile, int threads);

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
using MakeDirect = std::function<ExecutorPtr(const StepDescription&)>;

class ConvAlgorithms {
 public:
  /// `library`: that of the direct form, with its version.
  ConvAlgorithms(CpuExecutorSettings settings, const std::string& library);

  /// The executor of a convolution's step.
  [[nodiscard]] ExecutorPtr make(const StepDescription& step, const MakeDirect& direct);
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

}  // namespace trainyard::winograd
