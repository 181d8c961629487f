// The optimizer step on a GPU against the CPU launcher: bit-identical with every rule.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "../optim/blocks.h"
#include "../optim/read.h"
#include "backend/cuda/launches.h"
#include "gpu.h"
#include "gpu_array.h"
#include "launcher/launch.h"
#include "optim/update_launches_on.h"

namespace trainyard::test {
namespace {

constexpr std::size_t kMostSlots = 3;
constexpr std::int64_t kChunks = 600;  // many spans, the last one short

const std::vector<Segment> kSegments{
    {.rate_multiplier = 1, .l2 = 1e-4, .decay = 5e-4, .adapted = 1},
    {.rate_multiplier = 0.5, .decoupled_decay = 1e-2},
    {.rate_multiplier = 1, .l2 = 1e-3, .decay = 0, .frozen = 1}};

/// Blocks in GPU memory, copied from those of the host.
struct GpuBlocks {
  GpuArray<float> weights, gradients;
  std::vector<std::unique_ptr<GpuArray<float>>> slots;
  GpuArray<Segment> segments;
  GpuArray<double> sums, norm, loss, running_number;
  GpuArray<std::uint32_t> finished;
  GpuArray<ChunkSpan> spans;
  GpuArray<SegmentSpans> segment_spans;
  GpuArray<Norms> partials, norms;
  GpuArray<StepState> state;

  GpuBlocks(Gpu& gpu, const Blocks<float>& host)
      : weights(gpu, host.weights),
        gradients(gpu, host.gradients),
        segments(gpu, host.segments),
        sums(gpu, host.sums),
        norm(gpu, {0.0}),
        loss(gpu, {host.loss}),
        running_number(gpu, {host.running_number}),
        finished(gpu, {0}),
        spans(gpu, host.spans.spans),
        segment_spans(gpu, host.spans.segments),
        partials(gpu, host.partials),
        norms(gpu, host.norms),
        state(gpu, {host.state}) {
    for (const auto& slot : host.slots) {
      slots.push_back(std::make_unique<GpuArray<float>>(gpu, slot));
    }
  }
  [[nodiscard]] UpdateBlocks view() const {
    std::vector<void*> blocks;
    for (const auto& slot : slots) blocks.push_back(slot->data());
    return {.type = DType::f32,
            .weights = weights.data(),
            .gradients = gradients.data(),
            .slots = std::move(blocks),
            .segments = segments.data(),
            .spans = spans.data(),
            .span_count = static_cast<std::int64_t>(spans.size()),
            .state = state.data(),
            .running_number = running_number.data(),
            .norms = {.segments = segment_spans.data(),
                      .segment_count = static_cast<std::int64_t>(segment_spans.size()),
                      .partials = partials.data(),
                      .norms = norms.data()}};
  }
  [[nodiscard]] GradientFinish finish() const {
    return {.sums = {sums.data(), finished.data()},
            .norm = norm.data(),
            .loss = loss.data(),
            .state = state.data()};
  }
};

/// Everything between the gradients and the new weights, on either device.
void run_all(const UpdateLaunches& launches, UpdateBlocks blocks, GradientFinish task,
             const UpdateRule& rule) {
  task.unscale = true;
  launches.finish_gradients(blocks, task);
  blocks.clip = {task.norm, 0.5};
  launches.update(blocks, rule, 1e-3, {});
}

void compare(Blocks<float> host, const UpdateRule& rule) {
  Gpu gpu;
  const GpuBlocks there(gpu, host);
  double norm = 0;
  run_all(UpdateLaunchesOn<CpuLauncher>(CpuLauncher(1)), host.view(), host.finish(&norm), rule);
  run_all(*cuda::make_update_launches(gpu.stream()), there.view(), there.finish(), rule);
  CHECK(there.norm.read()[0] == norm);
  CHECK(there.gradients.read() == host.gradients);
  CHECK(there.weights.read() == host.weights);
  for (std::size_t slot = 0; slot < host.slots.size(); ++slot) {
    CHECK(there.slots[slot]->read() == host.slots[slot]);
  }
  CHECK(there.running_number.read()[0] == host.running_number);
  const std::vector<Norms> norms = there.norms.read();
  for (std::size_t i = 0; i < norms.size(); ++i) {
    CHECK(norms[i].weights == host.norms[i].weights);
    CHECK(norms[i].gradients == host.norms[i].gradients);
  }
}

TEST_CASE("an optimizer step on a GPU is bit-identical to the CPU's, with every rule" *
          doctest::skip(no_gpu())) {
  const std::vector<Segment> whole{kSegments[0]};  // its norms are of spans of many chunks
  for (const auto& optimizer : every_optimizer()) {
    for (const std::vector<Segment>& segments : {kSegments, whole}) {
      Blocks<float> blocks(kChunks, segments, kMostSlots);
      blocks.state = {.step = 7, .rate = 0.05, .loss_scale = 16};
      blocks.running_number = 0.25;
      compare(blocks, optimizer->rule);
    }
  }
}

TEST_CASE("a non-finite gradient freezes the weights on a GPU" * doctest::skip(no_gpu())) {
  Gpu gpu;
  Blocks<float> blocks(kChunks, kSegments, 2);
  blocks.state = {.step = 7, .rate = 0.05, .loss_scale = 16};
  blocks.gradients[70] = std::numeric_limits<float>::infinity();
  const GpuBlocks there(gpu, blocks);
  run_all(*cuda::make_update_launches(gpu.stream()), there.view(), there.finish(),
          MomentumRule{0.9, MomentumForm::keras, false});
  CHECK(there.state.read()[0].nonfinite_step == 7);
  CHECK(there.weights.read() == blocks.weights);
}

TEST_CASE(
    "sums over micro-batches, statistics and metrics on a GPU are bit-identical to the CPU's" *
    doctest::skip(no_gpu())) {
  Gpu gpu;
  Blocks<float> blocks(3, kSegments, 1);
  const std::vector<StatisticPolicy> rules{{0.99, 1.1}, {0.9, 1}, {0.5, 2}};
  std::vector<double> totals{0.25, 0};
  const double replicas = 2;
  blocks.state.valid = 101;
  blocks.state.rate = 0.125;
  std::vector<float> running = blocks.gradients;
  GpuBlocks there(gpu, blocks);
  const GpuArray<float> gpu_running(gpu, running);
  const GpuArray<StatisticPolicy> gpu_rules(gpu, rules);
  const GpuArray<double> gpu_totals(gpu, totals), gpu_replicas(gpu, {replicas});
  const auto run = [](const UpdateLaunches& launches, const UpdateBlocks& of, float* statistics,
                      const StatisticPolicy* by, const double* summed, double* results) {
    launches.accumulate({.gradients = of.gradients}, of.weights, 3 * kChunk, false);
    launches.update(of, PlainRule{}, 0,
                    {.running = statistics,
                     .batch = of.gradients,
                     .rules = by,
                     .state = of.state,
                     .replicas = summed,
                     .chunks = 3});
    launches.add_results(
        {.list = {{of.weights}, {}}, .count = 2, .samples = 120, .state = of.state}, results);
  };
  run(UpdateLaunchesOn<CpuLauncher>(CpuLauncher(1)), blocks.view(), running.data(), rules.data(),
      &replicas, totals.data());
  run(*cuda::make_update_launches(gpu.stream()), there.view(), gpu_running.data(), gpu_rules.data(),
      gpu_replicas.data(), gpu_totals.data());
  CHECK(there.gradients.read() == blocks.gradients);
  CHECK(there.weights.read() == blocks.weights);
  CHECK(gpu_running.read() == running);
  CHECK(gpu_totals.read() == totals);
  CHECK(totals[1] == 101);
}

/// A parameter of two filters, three channels and four places, packed in 16 bits with a channel of
/// padding.
constexpr std::int64_t kPackedElements = 2 * 3 * 4, kPackedRoom = 2 * 4 * 4;

PackedForm packed_form(BFloat16* data, std::int64_t first) {
  return {.data = data,
          .type = DType::bf16,
          .first = first,
          .elements = kPackedElements,
          .channels = 3,
          .places = 4,
          .filter_stride = 16,
          .channel_stride = 1,
          .place_stride = 4};
}
/// With filters and channels exchanged and the places back to front.
PackedForm turned_form(BFloat16* data, std::int64_t first) {
  PackedForm form = packed_form(data, first);
  form.filter_stride = 1;
  form.channel_stride = 8;
  form.place_stride = -2;
  form.origin = 6;
  return form;
}

/// A step of one pass whose launches take along what is before and behind them.
struct MergedStep {
  explicit MergedStep(const std::vector<float>& gradients) {
    for (std::int64_t i = 0; i < kPackedElements; ++i) {
      const auto at = static_cast<std::size_t>(packed_form(nullptr, 0).offset(i));
      packed[at] = BFloat16(gradients[static_cast<std::size_t>(i)]);
    }
  }
  std::vector<BFloat16> packed = std::vector<BFloat16>(kPackedRoom);
  std::vector<BFloat16> weights = std::vector<BFloat16>(kPackedRoom);
  std::vector<BFloat16> turned = std::vector<BFloat16>(kPackedRoom);
  std::vector<float> losses = std::vector<float>(120, 0.375f);
  std::vector<double> results = std::vector<double>(ResultRow::loss + 1);
  std::vector<double> rows = std::vector<double>(ResultRow::loss + 1);
};

std::vector<std::uint16_t> bits_of(const std::vector<BFloat16>& values) {
  std::vector<std::uint16_t> bits;
  for (const BFloat16 value : values) bits.push_back(value.bits);
  return bits;
}

ResultTable losses_of(const float* values, const StepState* state) {
  return {.list = {{values}}, .count = 1, .samples = 120, .state = state};
}
EndUpdate end_of(StepState* state, double* current, double* rows) {
  return {state, current, rows, ResultRow::loss + 1, 1};
}

const UpdateRule kRuleOfStep = MomentumRule{0.9, MomentumForm::keras, true};

/// On the CPU, with a launch for each part.
void run_apart(MergedStep& step, Blocks<float>& blocks) {
  const UpdateLaunchesOn<CpuLauncher> launches{CpuLauncher(1)};
  for (std::int64_t i = 0; i < kPackedElements; ++i) {
    const float value = packed_form(step.packed.data(), 0).read(i);
    blocks.gradients[static_cast<std::size_t>(i)] = value;
  }
  launches.add_results(losses_of(step.losses.data(), &blocks.state),
                       &step.results[ResultRow::loss]);
  GradientFinish finish = blocks.finish(&step.results[ResultRow::gradient_norm]);
  finish.unscale = true;
  finish.loss = &step.results[ResultRow::loss];
  launches.finish_gradients(blocks.view(), finish);
  launches.update(blocks.view(), kRuleOfStep, 0, {});
  for (std::int64_t i = 0; i < kPackedElements; ++i) {
    const float value = blocks.weights[static_cast<std::size_t>(i)];
    packed_form(step.weights.data(), 0).write(i, value);
    turned_form(step.turned.data(), 0).write(i, value);
  }
  launches.end(end_of(&blocks.state, step.results.data(), step.rows.data()));
}

TEST_CASE("a step in two launches has the bits of one in six" * doctest::skip(no_gpu())) {
  Gpu gpu;
  Blocks<float> blocks(kChunks, {{.decay = 1e-3}}, 1);
  blocks.state = {.step = 7, .rate = 0.05, .loss_scale = 16, .valid = 101};
  MergedStep host(blocks.gradients);
  const GpuBlocks there(gpu, blocks);
  const GpuArray<BFloat16> packed(gpu, host.packed), weights(gpu, host.weights),
      turned(gpu, host.turned);
  const GpuArray<float> losses(gpu, host.losses);
  const GpuArray<double> results(gpu, host.results), rows(gpu, host.rows);
  const GpuArray<PackedForms> from(gpu, {{packed_form(packed.data(), 0)}});
  const GpuArray<PackedForms> to(gpu,
                                 {{packed_form(weights.data(), 0), turned_form(turned.data(), 0)}});
  run_apart(host, blocks);

  const auto launches = cuda::make_update_launches(gpu.stream());
  GradientFinish task = there.finish();
  task.unscale = true;
  task.norm = results.data() + ResultRow::gradient_norm;
  task.loss = results.data() + ResultRow::loss;
  task.packed.forms = from.data();
  task.results = {losses_of(losses.data(), there.state.data()), results.data() + ResultRow::loss};
  launches->finish_gradients(there.view(), task);
  UpdateBlocks view = there.view();
  view.packed.forms = to.data();
  view.end = end_of(there.state.data(), results.data(), rows.data());
  view.finished = there.finished.data();
  launches->update(view, kRuleOfStep, 0, {});

  CHECK(there.gradients.read() == blocks.gradients);
  CHECK(there.weights.read() == blocks.weights);
  CHECK(bits_of(weights.read()) == bits_of(host.weights));
  CHECK(bits_of(turned.read()) == bits_of(host.turned));
  CHECK(rows.read() == host.rows);
  CHECK(host.rows[ResultRow::loss] == 101 * 0.375);
  CHECK(host.rows[ResultRow::gradient_norm] > 0);
  CHECK(results.read() == host.results);
  CHECK(there.state.read()[0].step == 8);
  CHECK(there.finished.read()[0] == 0);
}

TEST_CASE("an average on a GPU is bit-identical to the CPU's" * doctest::skip(no_gpu())) {
  Gpu gpu;
  Blocks<float> blocks(kChunks, kSegments, 1);
  blocks.state.step = 3;
  const GpuArray<float> average(gpu, blocks.gradients), trained(gpu, blocks.weights);
  const GpuArray<StepState> state(gpu, {blocks.state});
  const auto run = [](const UpdateLaunches& launches, float* to, float* from, const StepState* at) {
    launches.average({.weights = {to, from, kChunks - 2},
                      .running = {to + (kChunks - 2) * kChunk, from, 2},
                      .state = at,
                      .rule = {.decay = 0.99, .warmup = true}});
  };
  const std::vector<float> before = blocks.gradients;
  run(UpdateLaunchesOn<CpuLauncher>(CpuLauncher(1)), blocks.gradients.data(), blocks.weights.data(),
      &blocks.state);
  run(*cuda::make_update_launches(gpu.stream()), average.data(), trained.data(), state.data());
  CHECK(blocks.gradients != before);
  CHECK(average.read() == blocks.gradients);
}

TEST_CASE("gradients are rounded to 16 bits and back as on the CPU" * doctest::skip(no_gpu())) {
  Gpu gpu;
  const Blocks<float> blocks(3, kSegments, 1);
  const auto count = static_cast<std::int64_t>(blocks.gradients.size());
  for (const DType type : {DType::f16, DType::bf16}) {
    std::vector<float> back(blocks.gradients.size());
    std::vector<std::uint16_t> rounded(back.size());
    const GpuArray<float> from(gpu, blocks.gradients), to(gpu, back);
    const GpuArray<std::uint16_t> between(gpu, rounded);
    const auto run = [&](const UpdateLaunches& launches, float* wide, const float* own,
                         std::uint16_t* half) {
      launches.downcast(half, type, own, count);
      launches.upcast(wide, half, type, count);
    };
    run(UpdateLaunchesOn<CpuLauncher>(CpuLauncher(1)), back.data(), blocks.gradients.data(),
        rounded.data());
    run(*cuda::make_update_launches(gpu.stream()), to.data(), from.data(), between.data());
    CHECK(between.read() == rounded);
    CHECK(to.read() == back);
  }
}

TEST_CASE("the state carries over from step to step as on the CPU" * doctest::skip(no_gpu())) {
  constexpr std::int64_t kWidth = ResultRow::loss + 1;
  Gpu gpu;
  RateWindow window{.first = 3};
  for (std::int64_t i = 0; i < RateWindow::kRates; ++i) window.rates[i] = 1.0 / double(i + 1);
  StepState state{.step = 3, .tried = 3, .loss_scale = 8};
  std::vector<double> current(kWidth, 2.5), rows(2 * kWidth);
  const GpuArray<RateWindow> gpu_window(gpu, {window});
  const GpuArray<StepState> gpu_state(gpu, {state});
  const GpuArray<double> gpu_current(gpu, current), gpu_rows(gpu, rows);
  const LossScale scale{.start = 8, .dynamic = true, .growth = 2};
  const auto run = [&](const UpdateLaunches& launches, StepState* of, const RateWindow* rates,
                       double* sums, double* kept) {
    for (int update = 0; update < 5; ++update) {
      launches.begin({of, rates, 24});
      launches.end({of, sums, kept, kWidth, 2, scale});
    }
  };
  run(UpdateLaunchesOn<CpuLauncher>(CpuLauncher(1)), &state, &window, current.data(), rows.data());
  run(*cuda::make_update_launches(gpu.stream()), gpu_state.data(), gpu_window.data(),
      gpu_current.data(), gpu_rows.data());
  const StepState found = gpu_state.read()[0];
  CHECK(found.step == state.step);
  CHECK(found.tried == state.tried);
  CHECK(found.rate == state.rate);
  CHECK(found.gradient_scale == state.gradient_scale);
  CHECK(found.loss_scale == state.loss_scale);
  CHECK(found.good_steps == state.good_steps);
  CHECK(gpu_rows.read() == rows);
}

}  // namespace
}  // namespace trainyard::test
