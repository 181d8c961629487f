#include "compute/conv/weight_gradient/weight_gradient.h"

#include <algorithm>
#include <optional>
#include <span>

#include "base/offset_allocator.h"
#include "compute/conv/weight_gradient/paired_maps.h"
#include "compute/conv/weight_gradient/read_ahead.h"
#include "compute/conv/weight_gradient/weight_tiling.h"
#include "compute/elementwise/functor.h"
#include "launcher/launch.h"

namespace trainyard::direct {
namespace {

/// The sums of all parts, added as a binary tree.
template <std::int64_t kLanes>
struct PartTree {
  static constexpr std::int64_t kAhead = 4;  // vectors, those of the next channels
  const float* sums;
  std::int64_t parts, part_floats;

  /// total[0], of the vector at `from` floats of each part.
  void add(std::int64_t from, float (&total)[kMostParts][kLanes]) const {
    for (std::int64_t part = 0; part < parts; ++part) {
      const float* const sum = sums + part * part_floats + from;
      __builtin_prefetch(sum + kAhead * kLanes);
      for (std::int64_t l = 0; l < kLanes; ++l) total[part][l] = sum[l];
    }
    for (std::int64_t half = parts / 2; half > 0; half /= 2) {
      for (std::int64_t part = 0; part < half; ++part) {
        for (std::int64_t l = 0; l < kLanes; ++l) total[part][l] += total[part + half][l];
      }
    }
  }
};

/// Writes the gradient of the weights, [filters][group_channels][area]. A row is some channels of a
/// vector of filters: the sums of each part are read in succession, and what is written meanwhile
/// stays in the first-level cache.
template <std::int64_t kLanes>
struct WeightTotals {
  static constexpr std::int64_t kTogether = 32;  // channels of a row
  PartTree<kLanes> tree;
  const std::int64_t* starts;  // WeightTiling::starts
  float* gradient;
  std::int64_t filters, group_filters, group_channels, channels, padded_channels, area;
  std::int64_t vector_floats;

  [[nodiscard]] std::int64_t rows_of_vector() const {
    return (channels + kTogether - 1) / kTogether;
  }
  template <class Team>
  void operator()(const Team&, std::int64_t row) const {
    const std::int64_t vector = row / rows_of_vector();
    const std::int64_t first = row % rows_of_vector() * kTogether;
    const std::int64_t last = std::min(first + kTogether, channels);
    for (std::int64_t k = 0; k < area; ++k) {
      const std::int64_t sums = vector * vector_floats + k * padded_channels * kLanes;
      for (std::int64_t c = first; c < last; ++c) {
        float total[kMostParts][kLanes];
        tree.add(sums + c * kLanes, total);
        write(total[0], vector * kLanes, starts[vector] + c, k);
      }
    }
  }

 private:
  /// The weights of pixel k of a channel for the filters from `first` on, if they are of its group.
  void write(const float (&total)[kLanes], std::int64_t first, std::int64_t channel,
             std::int64_t k) const {
    const std::int64_t group = channel / group_channels;
    const Span lanes{std::max(group * group_filters - first, std::int64_t{0}),
                     std::min({(group + 1) * group_filters, filters, first + kLanes}) - first};
    float* const to = gradient + (first * group_channels + channel % group_channels) * area + k;
    for (std::int64_t l = lanes.first; l < lanes.last; ++l) {
      to[l * group_channels * area] = total[l];
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

/// A map as kernels read it: itself, or a copy in another layout.
class ReadableMap {
 public:
  ReadableMap(const Layout& given, const Layout& wanted, const StepDescription& step,
              OffsetAllocator& workspace)
      : layout_(wanted), type_(step.storage) {
    if (given == wanted) return;
    copy_ = make_functor_reorder(given, type_, wanted, type_, step.threads);
    copy_at_ =
        workspace.take(static_cast<std::size_t>(span_elements(wanted)) * size_of(step.storage));
  }
  /// Where the map is, once copy() has run.
  [[nodiscard]] void* bind(const TensorView& given, void* workspace) {
    if (copy_ == nullptr) return given.data;
    const TensorView to{.data = address_at(workspace, copy_at_), .type = type_, .layout = layout_};
    copy_->bind({.inputs = {given}, .outputs = {to}});
    return to.data;
  }
  void copy() const {
    if (copy_ != nullptr) copy_->run();
  }

 private:
  Layout layout_;
  DType type_;
  ExecutorPtr copy_;  // or null
  std::size_t copy_at_ = 0;
};

/// A step whose maps, or what is in their place, are as kernels read them: in f32 the output's
/// gradient in blocks, in bf16 both maps as PairedMaps does.
ConvStep readable_step(const StepDescription& step) {
  ConvStep conv = conv_step(step);
  Layout &input = conv.maps.input, &output = conv.maps.output;
  if (step.storage == DType::f32) {
    output = kernel_layout(output);
    return conv;
  }
  const std::int64_t lanes = kBf16Kernels.lanes;
  if (!PairedRows::supports(input)) input = plain_layout(shape_of(input));
  if (!PairedRows::supports(output) || output.block != lanes) {
    output = blocked_layout(shape_of(output), lanes);
  }
  return conv;
}

class WeightGradient final : public Executor {
 public:
  explicit WeightGradient(const StepDescription& step)
      : conv_(readable_step(step)),
        launcher_(step.threads),
        ahead_(static_cast<std::size_t>(step.threads)) {
    if (step.storage == DType::bf16) pairs_.emplace(conv_);
    plan_ = pairs_ ? pairs_->plan() : weight_tiling(conv_, kernels_for(conv_.maps.output));
    const std::int64_t floats = plan_.order.parts * plan_.part_floats();
    sums_at_ = workspace_.take(static_cast<std::size_t>(floats) * sizeof(float));
    const ConvMaps<Layout> given = conv_step(step).maps;
    x_map_ = std::make_unique<ReadableMap>(given.input, conv_.maps.input, step, workspace_);
    dy_map_ = std::make_unique<ReadableMap>(given.output, conv_.maps.output, step, workspace_);
    if (!pairs_) return;
    pair_bytes_ = round_up(pairs_->bytes(), std::size_t{64});
    pairs_at_ = workspace_.take(static_cast<std::size_t>(step.threads) * pair_bytes_);
  }
  [[nodiscard]] std::size_t workspace_bytes() const override { return workspace_.used(); }
  [[nodiscard]] Algorithm algorithm() const override {
    if (pairs_) return {.name = "direct AVX512-BF16"};
    return {.name = plan_.lanes == kAvx512Kernels.lanes ? "direct AVX-512" : "direct AVX2"};
  }
  void bind(const StepTensors& tensors) override {
    const ConvMaps<TensorView> maps = conv_.views(tensors);
    maps_ = {x_map_->bind(maps.input, tensors.workspace),
             dy_map_->bind(maps.output, tensors.workspace)};
    weights_ = tensors.parameter_gradients[0].as<float>();
    if (has_bias()) bias_ = tensors.parameter_gradients[1].as<float>();
    sums_ = static_cast<float*>(address_at(tensors.workspace, sums_at_));
    pair_memory_ = address_at(tensors.workspace, pairs_at_);
    reserve_ahead();
  }
  void run() override {
    x_map_->copy();
    dy_map_->copy();
    const std::int64_t threads = launcher_.threads();
    parallel_ranges(launcher_.threads(), threads, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t thread = begin; thread < end; ++thread) sum_units(thread, threads);
    });
    plan_.lanes == 16 ? add_parts<16>() : add_parts<8>();
  }

 private:
  /// A transposed convolution's is that of the other map, and not computed here.
  [[nodiscard]] bool has_bias() const { return conv_.attributes.bias && !conv_.transposed; }

  /// What a thread sums at once: the filters of a unit over a run of rows.
  struct Piece {
    std::int64_t part, unit;
    Span run;
    bool same_x = false;  // reads of x what the thread's piece before it does
  };

  /// One thread's units of all parts, some of which take each run of rows in turn.
  void sum_units(std::int64_t thread, std::int64_t threads) {
    const std::int64_t units = plan_.units(), end = all_units() * (thread + 1) / threads;
    std::optional<Piece> now;
    const auto advance = [&](const std::optional<Piece>& next) {
      if (now) sum_piece(*now, next, thread);
      now = next;
    };
    for (std::int64_t i = all_units() * thread / threads, some = 0; i < end; i += some) {
      const std::int64_t part = i / units, first = i % units;
      some = std::min({plan_.units_together(), units - first, end - i});
      plan_.each_run(part, [&](const Span& run) {
        for (std::int64_t unit = first; unit < first + some; ++unit) {
          advance(Piece{part, unit, run, unit > first && plan_.same_channels(unit - 1, unit)});
        }
      });
    }
    advance({});
  }
  /// Units of all parts.
  [[nodiscard]] std::int64_t all_units() const { return plan_.order.parts * plan_.units(); }

  /// Adds to the sums of the piece's part. `next`, if any, is the thread's next piece.
  void sum_piece(const Piece& piece, const std::optional<Piece>& next, std::int64_t thread) {
    const auto [first, last] = plan_.unit(piece.unit);
    const ConvMaps<const float*> maps = maps_of(piece, thread);
    ReadAhead& ahead = ahead_[static_cast<std::size_t>(thread)];
    ahead.begin(plan_.calls(piece.unit), piece.run.last - piece.run.first);
    if (next) add_reads(*next, ahead);
    for (std::int64_t vector = first, some = 0; vector < last; vector += some) {
      some = plan_.next_vectors(vector, last);
      sum_tiles(maps, piece, vector, plan_.tiles[some - 1], ahead);
    }
    if (!has_bias()) return;
    for (std::int64_t vector = first; vector < last; ++vector) {
      sum_tiles(maps, piece, vector, plan_.filter_sums, ahead);
    }
  }

  /// Both maps in the layouts of the plan, at least what a piece reads.
  [[nodiscard]] ConvMaps<const float*> maps_of(const Piece& piece, std::int64_t thread) const {
    if (pairs_) {
      void* const own = address_at(pair_memory_, static_cast<std::size_t>(thread) * pair_bytes_);
      return pairs_->pair(maps_, piece.run, piece.unit, piece.same_x, static_cast<float*>(own));
    }
    return {static_cast<const float*>(maps_.input), static_cast<const float*>(maps_.output)};
  }

  /// Adds what maps_of reads, or the kernels from its maps.
  void add_reads(const Piece& piece, ReadAhead& ahead) const {
    const std::int64_t bytes = pairs_ ? 2 : 4, together = pairs_ ? 2 : 1;
    const Span own = plan_.unit(piece.unit);
    if (!piece.same_x) {
      ahead.add({maps_.input, conv_.maps.input, bytes, together}, input_rows(conv_, piece.run),
                plan_.channels_of(own));
    }
    ahead.add({maps_.output, conv_.maps.output, bytes, together}, piece.run,
              {own.first * plan_.lanes, own.last * plan_.lanes});
  }

  /// Makes room for what any piece reads, so that no step allocates.
  void reserve_ahead() {
    ReadAhead ahead;
    std::size_t most = 0;
    for (std::int64_t i = 0; i < all_units(); ++i) {
      plan_.each_run(i / plan_.units(), [&](const Span& run) {
        ahead.begin(1, 1);
        add_reads({i / plan_.units(), i % plan_.units(), run}, ahead);
        most = std::max(most, ahead.size());
      });
    }
    for (ReadAhead& each : ahead_) each.reserve(most);
  }

  /// Adds the sums of a piece for the filters from `vector` on to those of its part.
  void sum_tiles(const ConvMaps<const float*>& maps, const Piece& piece, std::int64_t vector,
                 const PlannedTiles& tiles, ReadAhead& ahead) const {
    const std::int64_t image = piece.run.first / tiles[0].tile.height;
    const float* const x = maps.input + plan_.x.offset(image, plan_.starts[vector], 0, 0);
    const float* const dy = maps.output + plan_.dy.offset(image, vector * plan_.lanes, 0, 0);
    float* const sums = sums_ + piece.part * plan_.part_floats() + vector * plan_.vector_floats();
    for (const PlannedTile& planned : tiles) {
      WeightTile tile = planned.tile;
      tile.x = x + planned.x_offset;
      tile.dy = dy;
      tile.sums = sums + planned.sums_offset;
      tile.first_rows = piece.run.first == plan_.first_row(piece.part);
      tile.begin = piece.run.first;
      tile.end = piece.run.last;
      const std::span<const Ahead> share = ahead.next();
      tile.ahead = share.data();
      tile.aheads = static_cast<std::int64_t>(share.size());
      planned.run(tile);
    }
  }

  template <std::int64_t kLanes>
  void add_parts() const {
    PartTree<kLanes> tree{sums_, plan_.order.parts, plan_.part_floats()};
    const WeightTotals<kLanes> totals{.tree = tree,
                                      .starts = plan_.starts.data(),
                                      .gradient = weights_,
                                      .filters = plan_.filters,
                                      .group_filters = plan_.group_filters,
                                      .group_channels = plan_.group_channels,
                                      .channels = plan_.channels,
                                      .padded_channels = plan_.padded_channels,
                                      .area = plan_.area,
                                      .vector_floats = plan_.vector_floats()};
    launcher_.rows(plan_.vectors * totals.rows_of_vector(), totals);
    if (!has_bias()) return;
    tree.sums += plan_.filter_sums_at();
    launcher_.rows(plan_.vectors,
                   BiasTotals<kLanes>{tree, bias_, plan_.filters, plan_.vector_floats()});
  }

  ConvStep conv_;
  WeightTiling plan_;
  CpuLauncher launcher_;
  OffsetAllocator workspace_;
  std::unique_ptr<ReadableMap> x_map_, dy_map_;
  std::optional<PairedMaps> pairs_;  // in bf16
  std::vector<ReadAhead> ahead_;     // one for each thread
  std::size_t sums_at_ = 0, pairs_at_ = 0;
  std::size_t pair_bytes_ = 0;  // a thread's
  ConvMaps<const void*> maps_ = {};
  void* pair_memory_ = nullptr;
  float* sums_ = nullptr;
  float* weights_ = nullptr;
  float* bias_ = nullptr;
};

}  // namespace

ExecutorPtr make_weight_gradient(const StepDescription& step) {
  return std::make_unique<WeightGradient>(step);
}

}  // namespace trainyard::direct
