#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/offset_allocator.h"
#include "base/parallel.h"
#include "compute/conv/winograd/algorithms.h"

namespace trainyard::winograd {
namespace {

/// What a thread's block of tiles should take of its L2 cache, which holds weights and maps too.
constexpr std::int64_t kScratchBytes = 192 << 10;
constexpr std::size_t kCacheLine = 64;

BlockedMap map_of(const Layout& layout) {
  return {.image = layout.stride[0],
          .block = layout.stride[1],
          .row = layout.stride[2],
          .height = layout.extent[2],
          .width = layout.extent[3],
          .blocks = layout.padded_channels / layout.block};
}

/// The gradient of the input is the convolution of the output's gradient with reversed taps.
Problem problem_of(const ConvStep& conv, const Kernels& kernels) {
  const bool gradient = conv.computes == ConvProduct::input_gradient;
  Problem problem{.input = map_of(gradient ? conv.maps.output : conv.maps.input),
                  .output = map_of(gradient ? conv.maps.input : conv.maps.output),
                  .images = conv.maps.input.extent[0],
                  .top = gradient ? 2 - conv.margins.top : conv.margins.top,
                  .left = gradient ? 2 - conv.margins.left : conv.margins.left};
  problem.tile_rows = (problem.output.height + kernels.rows - 1) / kernels.rows;
  problem.tile_columns = (problem.output.width + kernels.columns - 1) / kernels.columns;
  return problem;
}

PlainWeights weights_of(const ConvStep& conv) {
  const std::int64_t filters = conv.filters(), channels = conv.channels();
  if (conv.computes == ConvProduct::output) {
    return {
        .outputs = filters, .inputs = channels, .output_stride = channels * 9, .input_stride = 9};
  }
  return {.outputs = channels,
          .inputs = filters,
          .output_stride = 9,
          .input_stride = channels * 9,
          .reversed = true};
}

/// Equal blocks that fit kScratchBytes, as far as a block has 8 tiles at least, over which the
/// weights are read.
std::int64_t tiles_of_block(const Kernels& kernels, const Problem& problem, int threads) {
  const std::int64_t bytes_of_eight = kernels.scratch_floats(problem, 8) * 4;
  const std::int64_t most = std::max<std::int64_t>(8, kScratchBytes * 8 / bytes_of_eight);
  const std::int64_t share = (problem.tiles() + threads - 1) / threads;
  const std::int64_t blocks = (share + most - 1) / most;
  return (share + blocks - 1) / blocks;
}

class WinogradConv final : public Executor {
 public:
  WinogradConv(const ConvStep& conv, const Kernels& kernels, int threads)
      : conv_(conv),
        kernels_(kernels),
        problem_(problem_of(conv, kernels)),
        weights_(weights_of(conv)),
        threads_(threads),
        block_(tiles_of_block(kernels, problem_, threads)) {
    const auto take = [this](std::int64_t floats) {
      return workspace_.take(static_cast<std::size_t>(floats) * sizeof(float));
    };
    transformed_ = take(kernels.weight_floats(problem_));
    bias_ = take(problem_.output.blocks * kernels.lanes);
    scratch_bytes_ =
        round_up(static_cast<std::size_t>(kernels.scratch_floats(problem_, block_)) * sizeof(float),
                 kCacheLine);
    scratch_ = workspace_.take(static_cast<std::size_t>(threads) * scratch_bytes_);
  }

  [[nodiscard]] std::size_t workspace_bytes() const override { return workspace_.used(); }
  [[nodiscard]] Algorithm algorithm() const override {
    return {.name = fmt::format("Winograd F({}x{}, 3x3)", kernels_.rows, kernels_.columns),
            .operations =
                static_cast<double>(kernels_.points()) / (9 * kernels_.rows * kernels_.columns)};
  }

  void bind(const StepTensors& tensors) override {
    const ConvMaps<TensorView> maps = conv_.views(tensors);
    const bool gradient = conv_.computes == ConvProduct::input_gradient;
    const auto at = [&](std::size_t offset) {
      return static_cast<float*>(address_at(tensors.workspace, offset));
    };
    weights_.data = tensors.parameters[0].as<float>();
    plain_bias_ = conv_.adds_bias() ? tensors.parameters[1].as<float>() : nullptr;
    memory_ = {.input = (gradient ? maps.output : maps.input).as<float>(),
               .weights = at(transformed_),
               .bias = plain_bias_ == nullptr ? nullptr : at(bias_),
               .output = (gradient ? maps.input : maps.output).as<float>(),
               .relu = conv_.form.relu,
               .adds = conv_.form.adds_gradient};
    workspace_at_ = tensors.workspace;
  }

  void run() override {
    transform_weights();
    parallel_ranges(threads_, threads_, 1, [this](std::int64_t begin, std::int64_t end) {
      for (std::int64_t part = begin; part < end; ++part) run_part(part);
    });
  }

 private:
  void transform_weights() const {
    float* const to = static_cast<float*>(address_at(workspace_at_, transformed_));
    const std::int64_t channels = problem_.input.blocks * kernels_.lanes;
    constexpr std::int64_t kGrain = 16;
    parallel_ranges(threads_, problem_.output.blocks * channels, kGrain,
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t i = begin; i < end; ++i) {
                        kernels_.transform_weights(problem_, weights_, i / channels, i % channels,
                                                   to);
                      }
                    });
    if (plain_bias_ == nullptr) return;
    float* const bias = static_cast<float*>(address_at(workspace_at_, bias_));
    std::fill_n(bias, problem_.output.blocks * kernels_.lanes, 0.0F);
    std::copy_n(plain_bias_, conv_.filters(), bias);
  }

  /// One thread's tiles.
  void run_part(std::int64_t part) const {
    auto* const scratch = static_cast<float*>(
        address_at(workspace_at_, scratch_ + static_cast<std::size_t>(part) * scratch_bytes_));
    const std::int64_t end = problem_.tiles() * (part + 1) / threads_;
    for (std::int64_t tile = problem_.tiles() * part / threads_; tile < end; tile += block_) {
      kernels_.run(problem_, memory_, tile, std::min(block_, end - tile), scratch);
    }
  }

  ConvStep conv_;
  const Kernels& kernels_;
  Problem problem_;
  PlainWeights weights_;
  int threads_;
  std::int64_t block_;  // tiles
  OffsetAllocator workspace_{kCacheLine};
  std::size_t transformed_ = 0, bias_ = 0, scratch_ = 0;
  std::size_t scratch_bytes_ = 0;  // a thread's
  const float* plain_bias_ = nullptr;
  Memory memory_;
  void* workspace_at_ = nullptr;
};

bool usable(const Layout& layout) {
  return layout.rank == 4 && (layout.block == 8 || (layout.block == 16 && processor_has_avx512()));
}

}  // namespace

std::int64_t Kernels::points() const { return std::int64_t{rows + 2} * (columns + 2); }

std::int64_t Kernels::weight_floats(const Problem& problem) const {
  return points() * problem.input.blocks * lanes * problem.output.blocks * lanes;
}

std::int64_t Kernels::scratch_floats(const Problem& problem, std::int64_t count) const {
  return points() *
         (point_floats(problem.input.blocks, count, lanes) + point_floats(panel, count, lanes));
}

bool supports(const ConvStep& conv) {
  const ConvAttributes& a = conv.attributes;
  const Margins& m = conv.margins;
  const bool window = a.kernel.h == 3 && a.kernel.w == 3 && a.stride.h == 1 && a.stride.w == 1 &&
                      a.dilation.h == 1 && a.dilation.w == 1 && a.groups == 1;
  const bool margins = std::ranges::all_of(std::array{m.top, m.left, m.bottom, m.right},
                                           [](auto margin) { return margin >= 0 && margin <= 2; });
  return window && margins && !conv.transposed && conv.computes != ConvProduct::weight_gradient &&
         usable(conv.maps.input) && usable(conv.maps.output) &&
         conv.maps.input.block == conv.maps.output.block;
}

ExecutorPtr make_winograd(const ConvStep& conv, Tile tile, int threads) {
  TY_CHECK(supports(conv), "a Winograd convolution is asked for where it is supported");
  const Kernels& kernels = conv.maps.input.block == 16 ? kernels_avx512(tile) : kernels_avx2(tile);
  return std::make_unique<WinogradConv>(conv, kernels, threads);
}

}  // namespace trainyard::winograd
