// Loads that a GPU has in flight in each pass over a large map, from the shape of its launch alone:
// what hides the latency of memory is bytes on their way. The networks are ResNet-20 and
// MiniGoogLeNet at 128 images, in bf16.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/half.h"
#include "compute/copy/copy_executors.h"
#include "compute/elementwise/bias.h"
#include "compute/norm/channels.h"
#include "ops/activation.h"

namespace trainyard {
namespace {

using T = BFloat16;

// Limits of a GPU of compute capability 8.0 to 9.0; an H100 has 132 processors.
constexpr std::int64_t kProcessors = 132, kThreads = 2048, kBlocks = 32;
constexpr std::int64_t kWanted = std::int64_t{2} << 20, kLargeMap = std::int64_t{1} << 20;

// Bytes that a thread requests before it uses the first of them: one line a functor.
template <int P>
std::int64_t requested(const BatchMoments<T, P>& f, std::int64_t strip) {
  return std::min<std::int64_t>(f.kLoads, strip) * P * sizeof(T);
}
template <int P, ReluCut kCut>
std::int64_t requested(const GradientSums<T, P, kCut>& f, std::int64_t strip) {
  const std::int64_t tensors = kCut >= ReluCut::by_output ? 3 : 2;
  return std::min<std::int64_t>(f.kLoads, strip) * tensors * P * sizeof(T);
}
template <int P>
std::int64_t requested(const BiasGradientRows<T, P>& f, std::int64_t strip) {
  return std::min<std::int64_t>(f.kLoads, strip) * P * sizeof(T);
}
template <int P, bool kRelu, bool kResidual>
std::int64_t requested(const NormaliseRows<T, P, kRelu, kResidual>&, std::int64_t) {
  return kBnCallRows * (kResidual ? 2 : 1) * P * sizeof(T);
}
template <int P, bool kRelu, bool kAdds>
std::int64_t requested(const InputGradientRows<T, P, kRelu, kAdds>&, std::int64_t) {
  return kBnGradientCallRows * (kAdds ? 3 : 2) * P * sizeof(T);
}
template <int P, class Tap>
std::int64_t requested(const MaxPoolWindow<T, P, Tap>&, std::int64_t) {
  return kWindowLoads * P * sizeof(T);
}
template <int P, class Tap>
std::int64_t requested(const MaxPoolGradient<T, P, Tap>&, std::int64_t) {
  return P * (sizeof(T) + sizeof(Tap));
}
template <int P>
std::int64_t requested(const AveragePoolWindow<T, P>&, std::int64_t) {
  return kWindowLoads * P * sizeof(T);
}
template <int P>
std::int64_t requested(const MapMeans<T, P>& f, std::int64_t strip) {
  return std::min<std::int64_t>(f.kLoads, strip) * P * sizeof(T);
}
template <int P>
std::int64_t requested(const AveragePoolGradient<T, P>&, std::int64_t) {
  return P * sizeof(T);
}
template <int P>
std::int64_t requested(const ReluBiasRows<T, P>& f, std::int64_t strip) {
  return std::min<std::int64_t>(f.kLoads, strip) * 2 * P * sizeof(T);
}
template <int P, bool kRelu>
std::int64_t requested(const AddBiasRows<T, P, kRelu>&, std::int64_t) {
  return P * sizeof(T);
}
template <class Body>
std::int64_t requested(const PackedRuns<UnaryElement<Body, T, T>>& f, std::int64_t) {
  return f.kTogether * sizeof(T);
}
template <class Body>
std::int64_t requested(const PackedRuns<BinaryElement<Body, T>>& f, std::int64_t) {
  return f.kTogether * 2 * sizeof(T);
}
template <class F>
std::int64_t requested(const F&, std::int64_t) {
  return 0;  // channels or padding: no map
}

/// The members of the CUDA launcher: notes the loads that each launch has in flight.
class LoadsLauncher {
 public:
  using Team = CpuTeam;
  using Floats = GpuFloats;
  static constexpr bool kPacks = true;
  static constexpr bool kSettles = true;

  explicit LoadsLauncher(std::vector<std::int64_t>& loads) : loads_(&loads) {}

  template <class F>
  void each(std::int64_t n, const F& f) const {
    note((n + 255) / 256, 256, n, requested(f, 1));
  }
  template <class F>
  void rows(std::int64_t n, const F& f) const {
    note(n, kTeamLanes, n * kTeamLanes, requested(f, 1));
  }
  template <class F>
  void columns(std::int64_t rows, std::int64_t columns, const F& f, typename F::Sum*,
               std::uint32_t*) const {
    this->columns(ColumnsCall<F>{column_grid<F>(rows, columns), f, nullptr});
  }
  template <class F>
  void columns(const ColumnsCall<F>& call) const {
    const ColumnGrid& grid = call.grid;
    const std::int64_t strips = (grid.rows + grid.strip - 1) / grid.strip;
    note(call.blocks(), kColumnThreads, strips / grid.turns * (grid.columns / grid.together),
         requested(call.f, grid.strip));
  }
  template <class F>
  void each(const Siblings<EachCall<F>>& calls) const {
    for (const EachCall<F>& call : calls) each(call.n, call.f);
  }
  template <class F>
  void columns(const Siblings<ColumnsCall<F>>& calls, std::uint32_t*) const {
    for (const ColumnsCall<F>& call : calls) columns(call);
  }
  template <class Settle, class F>
  void settled(const Siblings<SettledCall<Settle, F>>& calls) const {
    for (const SettledCall<Settle, F>& call : calls) {
      note(call.blocks(), kColumnThreads, call.rows.calls().all(), requested(call.rows, 1));
    }
  }

 private:
  /// Notes a launch of `blocks` blocks, in which `working` threads have something to load.
  void note(std::int64_t blocks, std::int64_t threads, std::int64_t working,
            std::int64_t bytes) const {
    if (bytes == 0) return;
    const std::int64_t together = kProcessors * std::min(kThreads / threads, kBlocks);
    const std::int64_t resident = std::min(working, std::min(blocks, together) * threads);
    loads_->push_back(resident * bytes);
  }

  std::vector<std::int64_t>* loads_;
};

Layout map_of(std::int64_t channels, std::int64_t size) {
  return channels_last_layout({128, channels, size, size}, 8);
}

std::int64_t bytes_of(const Layout& layout) {
  return span_elements(layout) * static_cast<std::int64_t>(sizeof(T));
}

TensorView view_of(const Layout& layout) { return {nullptr, DType::bf16, layout}; }

/// Every launch over `map` has 2 MiB in flight, or all that it reads.
void check_loads(const std::string& pass, const Layout& map,
                 const std::vector<std::int64_t>& loads) {
  CAPTURE(pass);
  CAPTURE(text_of(map));
  CAPTURE(map.extent[1]);
  CAPTURE(map.extent[2]);
  REQUIRE_FALSE(loads.empty());
  for (const std::int64_t bytes : loads) CHECK(bytes >= std::min(kWanted, bytes_of(map)));
}

/// An address that nothing reads.
template <class V>
V* somewhere() {
  return reinterpret_cast<V*>(std::uintptr_t{256});
}

std::vector<std::int64_t> loads_of_bn(const Layout& map, bool residual, Pass pass) {
  const BnOp op(BnAttributes{.relu = true, .residual = residual});
  StepDescription step{.op = &op, .pass = pass, .storage = DType::bf16};
  step.inputs.assign(residual ? 2 : 1, map);
  step.outputs = {map};
  std::vector<std::int64_t> loads;
  const auto executor = make_channels_as<T>(step, LoadsLauncher(loads));
  TensorView view = view_of(map);
  view.data = somewhere<T>();
  const TensorView channel{somewhere<float>(), DType::f32, plain_layout({map.extent[1]})};
  executor->bind({.inputs = {view, view},
                  .outputs = {view},
                  .output_gradients = {view},
                  .input_gradients = {view, view},
                  .parameters = {channel, channel},
                  .parameter_gradients = {channel, channel},
                  .batch_statistics = {channel, channel},
                  .reserve = somewhere<float>(),
                  .workspace = somewhere<float>()});
  executor->run();
  return loads;
}

TEST_CASE("batch norm keeps 2 MiB of loads in flight, in two launches a pass") {
  for (const auto& [channels, size] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{16, 32},
                                                          {32, 16},
                                                          {64, 8},
                                                          {96, 32},
                                                          {32, 32},
                                                          {48, 32},
                                                          {80, 32},
                                                          {112, 16},
                                                          {112, 15},
                                                          {96, 15},
                                                          {64, 15},
                                                          {80, 15},
                                                          {144, 15},
                                                          {96, 7},
                                                          {176, 7},
                                                          {160, 7}}) {
    const Layout map = map_of(channels, size);
    if (bytes_of(map) < kLargeMap) continue;
    for (const bool residual : {false, true}) {
      for (const Pass pass : {Pass::forward_train, Pass::backward_data}) {
        const auto loads = loads_of_bn(map, residual, pass);
        CHECK(loads.size() == 2);
        check_loads("batch norm", map, loads);
      }
    }
  }
}

void run_relu_bias(const LoadsLauncher& launcher, const Layout& map) {
  const ActivationOp<Relu> op({});
  const auto executor = make_relu_bias_on(launcher, {.op = &op,
                                                     .pass = Pass::backward_data,
                                                     .storage = DType::bf16,
                                                     .inputs = {map},
                                                     .outputs = {map}});
  const TensorView view = view_of(map);
  const TensorView bias{nullptr, DType::f32, plain_layout({map.extent[1]})};
  executor->bind({.outputs = {view},
                  .output_gradients = {view},
                  .input_gradients = {view},
                  .parameter_gradients = {bias}});
  executor->run();
}

TEST_CASE("biases, their gradients, sums and activations keep 2 MiB of loads in flight") {
  for (const auto& [channels, size] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {16, 32}, {32, 16}, {64, 8}, {96, 32}, {176, 7}}) {
    const Layout map = map_of(channels, size);
    const ChannelRows rows(map);
    std::vector<std::int64_t> loads;
    const LoadsLauncher launcher(loads);
    sum_bias_gradient<T>(launcher, rows, nullptr, nullptr, nullptr, nullptr);
    add_bias_rows<T>(launcher, rows, nullptr, nullptr, true);
    run_relu_bias(launcher, map);
    const Layout slice = channel_slice(map_of(2 * channels, size), channels, channels);
    for (const Layout& from : {map, slice}) {
      make_accumulate_on(launcher, from, map, DType::bf16)->run();
      const Layout layouts[] = {from, map};
      trainyard::map<T, T>(launcher, plan_walk(layouts), Copy{}, view_of(from), view_of(map));
    }
    CHECK(loads.size() == 7);
    check_loads("elementwise", map, loads);
  }
}

std::vector<std::int64_t> loads_of_pool(const PoolOp& op, Pass pass, const Layout& map,
                                        const Layout& out) {
  StepDescription step{.op = &op, .pass = pass, .storage = DType::bf16};
  step.inputs = {map};
  step.outputs = {out};
  std::vector<std::int64_t> loads;
  const auto executor = make_channels_as<T>(step, LoadsLauncher(loads));
  executor->bind({.inputs = {view_of(map)},
                  .outputs = {view_of(out)},
                  .output_gradients = {view_of(out)},
                  .input_gradients = {view_of(map)},
                  .reserve = somewhere<float>()});
  executor->run();
  return loads;
}

TEST_CASE("windows of a pooling keep 2 MiB of loads in flight") {
  for (const auto kind : {PoolAttributes::Kind::max, PoolAttributes::Kind::average}) {
    const PoolOp op(
        PoolAttributes{.kind = kind, .global = false, .size = {3, 3}, .stride = {2, 2}});
    for (const auto& [channels, size] :
         std::vector<std::pair<std::int64_t, std::int64_t>>{{80, 32}, {96, 32}, {144, 15}}) {
      const Layout map = map_of(channels, size), out = map_of(channels, (size - 3) / 2 + 1);
      check_loads("pooling", map, loads_of_pool(op, Pass::forward_train, map, out));
      check_loads("its gradient", out, loads_of_pool(op, Pass::backward_data, map, out));
    }
  }
}

TEST_CASE("the mean of whole maps keeps 2 MiB of loads in flight, or the map") {
  const PoolOp op(PoolAttributes{.kind = PoolAttributes::Kind::average, .global = true});
  for (const auto& [channels, size] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{64, 8}, {336, 7}}) {
    const Layout map = map_of(channels, size), out = map_of(channels, 1);
    check_loads("mean", map, loads_of_pool(op, Pass::forward_train, map, out));
  }
}

}  // namespace
}  // namespace trainyard
