#include "exec/direct/weight_gradient.h"

#include <algorithm>
#include <utility>

#include "base/offset_allocator.h"
#include "exec/direct/weight_plan.h"
#include "exec/functor/functor.h"
#include "kernels/launch.h"

namespace trainyard::direct {
namespace {

/// The sums of all parts, added as a binary tree.
template <std::int64_t kLanes>
struct PartTree {
  const float* sums;
  std::int64_t parts, part_floats;

  /// total[0], of the vector at `from` floats of each part.
  void add(std::int64_t from, float (&total)[kMostParts][kLanes]) const {
    for (std::int64_t part = 0; part < parts; ++part) {
      for (std::int64_t l = 0; l < kLanes; ++l)
        total[part][l] = sums[part * part_floats + from + l];
    }
    for (std::int64_t half = parts / 2; half > 0; half /= 2) {
      for (std::int64_t part = 0; part < half; ++part) {
        for (std::int64_t l = 0; l < kLanes; ++l) total[part][l] += total[part + half][l];
      }
    }
  }
};

/// Writes the gradient of the weights, [filters][group_channels][area]. A row is a channel of a
/// vector of filters.
template <std::int64_t kLanes>
struct WeightTotals {
  PartTree<kLanes> tree;
  const std::int64_t* starts;  // WeightPlan::starts
  float* gradient;
  std::int64_t filters, group_filters, group_channels, channels, padded_channels, area;
  std::int64_t vector_floats;

  template <class Team>
  void operator()(const Team&, std::int64_t row) const {
    const std::int64_t vector = row / channels, channel = row % channels;
    std::int64_t from = vector * vector_floats + channel * kLanes;
    for (std::int64_t k = 0; k < area; ++k, from += padded_channels * kLanes) {
      float total[kMostParts][kLanes];
      tree.add(from, total);
      for (std::int64_t l = 0; l < kLanes; ++l) {
        const std::int64_t filter = vector * kLanes + l;
        const std::int64_t own =  // the channel in the filter's group
            starts[vector] + channel - filter / group_filters * group_channels;
        if (filter >= filters || own < 0 || own >= group_channels) continue;
        gradient[(filter * group_channels + own) * area + k] = total[0][l];
      }
    }
  }
};

/// Writes the gradient of the bias, [filters]. A row is a vector of filters.
template <std::int64_t kLanes>
struct BiasTotals {
  PartTree<kLanes> tree;
  float* gradient;
  std::int64_t filters, vector_floats;

  template <class Team>
  void operator()(const Team&, std::int64_t vector) const {
    float total[kMostParts][kLanes];
    tree.add(vector * vector_floats, total);
    const std::int64_t first = vector * kLanes, count = std::min(kLanes, filters - first);
    for (std::int64_t l = 0; l < count; ++l) gradient[first + l] = total[0][l];
  }
};

/// A step whose output's gradient, or what is in its place, is in blocks that kernels read.
ConvStep packed_step(const StepDescription& step) {
  ConvStep conv = conv_step(step);
  conv.maps.output = kernel_layout(conv.maps.output);
  return conv;
}

class WeightGradient final : public Executor {
 public:
  explicit WeightGradient(const StepDescription& step)
      : conv_(packed_step(step)), plan_(weight_plan(conv_)), launcher_(step.threads) {
    const std::int64_t floats = plan_.order.parts * plan_.part_floats();
    sums_at_ = workspace_.take(static_cast<std::size_t>(floats) * sizeof(float));
    const Layout given = conv_step(step).maps.output;
    if (given == plan_.dy) return;
    pack_ = make_functor_reorder(given, DType::f32, plan_.dy, DType::f32, step.threads);
    packed_at_ = workspace_.take(static_cast<std::size_t>(span_elements(plan_.dy)) * sizeof(float));
  }
  [[nodiscard]] std::size_t workspace_bytes() const override { return workspace_.used(); }
  [[nodiscard]] Algorithm algorithm() const override {
    return {.name = plan_.lanes == kAvx512Kernels.lanes ? "direct AVX-512" : "direct AVX2"};
  }
  void bind(const StepTensors& tensors) override {
    ConvMaps<TensorView> maps = conv_.views(tensors);
    if (pack_ != nullptr) {
      const TensorView packed{.data = address_at(tensors.workspace, packed_at_),
                              .layout = plan_.dy};
      pack_->bind({.inputs = {maps.output}, .outputs = {packed}});
      maps.output = packed;
    }
    x_ = maps.input.as<float>();
    dy_ = maps.output.as<float>();
    weights_ = tensors.parameter_gradients[0].as<float>();
    if (has_bias()) bias_ = tensors.parameter_gradients[1].as<float>();
    sums_ = static_cast<float*>(address_at(tensors.workspace, sums_at_));
  }
  void run() override {
    if (pack_ != nullptr) pack_->run();
    const std::int64_t units = plan_.units();
    parallel_ranges(launcher_.threads(), plan_.order.parts * units, 1,
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t i = begin; i < end; ++i) sum_unit(i / units, i % units);
                    });
    plan_.lanes == 16 ? add_parts<16>() : add_parts<8>();
  }

 private:
  /// A transposed convolution's is that of the other map, and not computed here.
  [[nodiscard]] bool has_bias() const { return conv_.attributes.bias && !conv_.transposed; }

  /// The sums of some filters over the rows of a part.
  void sum_unit(std::int64_t part, std::int64_t unit) const {
    const std::int64_t first = unit * plan_.unit_vectors();
    const std::int64_t last = std::min(first + plan_.unit_vectors(), plan_.vectors);
    const WeightOrder& order = plan_.order;
    float* const sums = sums_ + part * plan_.part_floats();
    std::fill(sums + first * plan_.vector_floats(), sums + last * plan_.vector_floats(), 0.0f);
    const std::int64_t end = order.rows * (part + 1) / order.parts;
    for (std::int64_t row = order.rows * part / order.parts; row < end; row += order.run) {
      const Span run{row, std::min(row + order.run, end)};
      for (std::int64_t vector = first, some = 0; vector < last; vector += some) {
        some = plan_.next_vectors(vector, last);
        sum_run(run, vector, plan_.tiles[some - 1], sums);
      }
      if (!has_bias()) continue;
      for (std::int64_t vector = first; vector < last; ++vector) {
        sum_run(run, vector, plan_.filter_sums, sums);
      }
    }
  }

  /// Adds the sums of a run of rows for the filters from `vector` on to those of its part.
  void sum_run(const Span& run, std::int64_t vector, const PlannedTiles& tiles, float* sums) const {
    const std::int64_t image = run.first / tiles[0].tile.height;
    const float* const x = x_ + plan_.x.offset(image, plan_.starts[vector], 0, 0);
    const float* const dy = dy_ + plan_.dy.offset(image, vector * plan_.lanes, 0, 0);
    for (const PlannedTile& planned : tiles) {
      WeightTile tile = planned.tile;
      tile.x = x + planned.x_offset;
      tile.dy = dy;
      tile.sums = sums + vector * plan_.vector_floats() + planned.sums_offset;
      tile.begin = run.first;
      tile.end = run.last;
      planned.run(tile);
    }
  }

  template <std::int64_t kLanes>
  void add_parts() const {
    PartTree<kLanes> tree{sums_, plan_.order.parts, plan_.part_floats()};
    launcher_.rows(plan_.vectors * plan_.channels,
                   WeightTotals<kLanes>{.tree = tree,
                                        .starts = plan_.starts.data(),
                                        .gradient = weights_,
                                        .filters = plan_.filters,
                                        .group_filters = plan_.group_filters,
                                        .group_channels = plan_.group_channels,
                                        .channels = plan_.channels,
                                        .padded_channels = plan_.padded_channels,
                                        .area = plan_.area,
                                        .vector_floats = plan_.vector_floats()});
    if (!has_bias()) return;
    tree.sums += plan_.filter_sums_at();
    launcher_.rows(plan_.vectors,
                   BiasTotals<kLanes>{tree, bias_, plan_.filters, plan_.vector_floats()});
  }

  ConvStep conv_;
  WeightPlan plan_;
  CpuLauncher launcher_;
  OffsetAllocator workspace_;
  std::unique_ptr<Executor> pack_;  // of dy, or null
  std::size_t sums_at_ = 0, packed_at_ = 0;
  const float* x_ = nullptr;
  const float* dy_ = nullptr;
  float* sums_ = nullptr;
  float* weights_ = nullptr;
  float* bias_ = nullptr;
};

}  // namespace

std::unique_ptr<Executor> make_weight_gradient(const StepDescription& step) {
  return std::make_unique<WeightGradient>(step);
}

}  // namespace trainyard::direct
