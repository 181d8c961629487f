#include "exec/direct/weight_gradient.h"

#include <algorithm>
#include <utility>

#include "base/offset_allocator.h"
#include "exec/direct/weight_plan.h"
#include "kernels/launch.h"

namespace trainyard::direct {
namespace {

/// A row is a channel of a vector of filters: adds the sums of all parts, as a binary tree, and
/// writes the weights where they belong.
template <std::int64_t kLanes>
struct PartSums {
  const float* sums;  // [parts][vector][area][padded channels][lanes]
  float* gradient;    // [filters][channels][area]
  std::int64_t parts, filters, channels, padded_channels, area;
  std::int64_t vector_floats, part_floats;

  template <class Team>
  void operator()(const Team&, std::int64_t row) const {
    const std::int64_t vector = row / channels, channel = row % channels;
    const std::int64_t first = vector * kLanes, count = std::min(kLanes, filters - first);
    const float* from = sums + vector * vector_floats + channel * kLanes;
    float* to = gradient + (first * channels + channel) * area;
    for (std::int64_t k = 0; k < area; ++k, from += padded_channels * kLanes, ++to) {
      float total[kMostParts][kLanes];
      for (std::int64_t part = 0; part < parts; ++part) {
        for (std::int64_t l = 0; l < kLanes; ++l) total[part][l] = from[part * part_floats + l];
      }
      for (std::int64_t half = parts / 2; half > 0; half /= 2) {
        for (std::int64_t part = 0; part < half; ++part) {
          for (std::int64_t l = 0; l < kLanes; ++l) total[part][l] += total[part + half][l];
        }
      }
      for (std::int64_t l = 0; l < count; ++l) to[l * channels * area] = total[0][l];
    }
  }
};

class WeightGradient final : public Executor {
 public:
  explicit WeightGradient(const StepDescription& step)
      : conv_(conv_step(step)), plan_(weight_plan(conv_)), launcher_(step.threads) {
    const std::int64_t floats = plan_.order.parts * plan_.part_floats();
    sums_at_ = workspace_.take(static_cast<std::size_t>(floats) * sizeof(float));
  }
  [[nodiscard]] std::size_t workspace_bytes() const override { return workspace_.used(); }
  [[nodiscard]] Algorithm algorithm() const override {
    return {.name = plan_.lanes == kAvx512Kernels.lanes ? "direct AVX-512" : "direct AVX2"};
  }
  void bind(const StepTensors& tensors) override {
    const ConvMaps<TensorView> maps = conv_.views(tensors);
    x_ = maps.input.as<float>();
    dy_ = maps.output.as<float>();
    tensors_ = tensors;
    sums_ = static_cast<float*>(address_at(tensors.workspace, sums_at_));
  }
  void run() override {
    const std::int64_t units = plan_.groups * plan_.units();
    parallel_ranges(launcher_.threads(), plan_.order.parts * units, 1,
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t i = begin; i < end; ++i) sum_unit(i / units, i % units);
                    });
    plan_.lanes == 16 ? add_parts<16>() : add_parts<8>();
  }

 private:
  /// A transposed convolution's is that of the other map, and not computed here.
  [[nodiscard]] bool has_bias() const { return conv_.attributes.bias && !conv_.transposed; }

  /// The sums of some filters of one group over the rows of a part.
  void sum_unit(std::int64_t part, std::int64_t unit) const {
    const std::int64_t group = unit / plan_.units(), width = kUnitFilters / plan_.lanes;
    const std::int64_t first = unit % plan_.units() * width;
    const std::int64_t last = std::min(first + width, plan_.vectors);
    const WeightOrder& order = plan_.order;
    float* const sums =
        sums_ + part * plan_.part_floats() + group * plan_.vectors * plan_.vector_floats();
    std::fill(sums + first * plan_.vector_floats(), sums + last * plan_.vector_floats(), 0.0f);
    const std::int64_t end = order.rows * (part + 1) / order.parts;
    for (std::int64_t row = order.rows * part / order.parts; row < end; row += order.run) {
      const Span run{row, std::min(row + order.run, end)};
      for (std::int64_t vector = first, some = 0; vector < last; vector += some) {
        some = plan_.next_vectors(last - vector);
        sum_run(run, group, vector, plan_.tiles[some - 1], sums + vector * plan_.vector_floats());
      }
      if (!has_bias()) continue;
      for (std::int64_t vector = first; vector < last; ++vector) {
        sum_run(run, group, vector, plan_.filter_sums, sums + vector * plan_.vector_floats());
      }
    }
  }

  /// Adds the sums of a run of rows for the filters from `vector` on.
  void sum_run(const Span& run, std::int64_t group, std::int64_t vector, const PlannedTiles& tiles,
               float* sums) const {
    const std::int64_t image = run.first / tiles[0].tile.height;
    const std::int64_t filter = (group * plan_.vectors + vector) * plan_.lanes;
    const float* const x = x_ + plan_.x.offset(image, group * plan_.channels, 0, 0);
    const float* const dy = dy_ + plan_.dy.offset(image, filter, 0, 0);
    for (const PlannedTile& planned : tiles) {
      WeightTile tile = planned.tile;
      tile.x = x + planned.x_offset;
      tile.dy = dy;
      tile.sums = sums + planned.sums_offset;
      tile.begin = run.first;
      tile.end = run.last;
      planned.run(tile);
    }
  }

  template <std::int64_t kLanes>
  void add_parts() const {
    const std::int64_t vectors = plan_.groups * plan_.vectors;
    const PartSums<kLanes> weights{.sums = sums_,
                                   .gradient = tensors_.parameter_gradients[0].as<float>(),
                                   .parts = plan_.order.parts,
                                   .filters = plan_.filters,
                                   .channels = plan_.channels,
                                   .padded_channels = plan_.padded_channels,
                                   .area = plan_.area,
                                   .vector_floats = plan_.vector_floats(),
                                   .part_floats = plan_.part_floats()};
    launcher_.rows(vectors * plan_.channels, weights);
    if (!has_bias()) return;
    PartSums<kLanes> bias = weights;
    bias.sums += plan_.filter_sums_at();
    bias.gradient = tensors_.parameter_gradients[1].as<float>();
    bias.channels = bias.area = 1;
    launcher_.rows(vectors, bias);
  }

  ConvStep conv_;
  WeightPlan plan_;
  CpuLauncher launcher_;
  OffsetAllocator workspace_;
  std::size_t sums_at_ = 0;
  const float* x_ = nullptr;
  const float* dy_ = nullptr;
  float* sums_ = nullptr;
  StepTensors tensors_;
};

}  // namespace

bool has_weight_gradient(const StepDescription& step) { return has_weight_plan(conv_step(step)); }

std::unique_ptr<Executor> make_weight_gradient(const StepDescription& step) {
  return std::make_unique<WeightGradient>(step);
}

}  // namespace trainyard::direct
