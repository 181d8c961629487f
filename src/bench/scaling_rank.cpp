#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/host.h"
#include "base/median.h"
#include "base/parallel.h"
#include "base/text.h"
#include "bench/scaling.h"
#include "ranks/comm/communicator.h"
#include "ranks/stop_vote.h"
#include "run/session/session.h"
#include "run/session/session_device.h"
#include "train/train_step.h"

namespace trainyard {
namespace {

constexpr Operation kMeasuring{"measuring"};
// Before a window: a step that is not recorded, the recording for each of a batch's staging slots,
// and the prefetched batches.
constexpr int kUntimedSteps = 1 + BatchUpload::kSlots;

/// A rank that trains without an end.
class RankBench {
 public:
  RankBench(RunConfig run, const ScalingOptions& options, RankGroup& ranks)
      : ranks_(ranks),
        session_(with_batch(std::move(run), options.batch), options.device, nullptr, ranks, &sums_),
        vote_(ranks.communicator(), ranks.queue(), {}, session_.device().results_kept),
        start_(session_.step().position()) {
    session_.step().sum_with_results(vote_.request());
  }

  [[nodiscard]] RankMeasurement measure(const ScalingOptions& options) {
    RankMeasurement found{.host = host_name(),
                          .device = session_.device().device->name(),
                          .threads = session_.device().threads,
                          .cores = available_cores(),
                          .local_ranks = ranks_.identity().local_ranks,
                          .device_text = session_.device().text,
                          .processor = processor_name(),
                          .libraries = session_.device().executors->libraries()};
    options.inference ? measure_inference(options, found) : measure_training(options, found);
    return found;
  }

 private:
  /// The parts of a step that are run.
  enum class Work { whole, without_sums, without_data };

  static RunConfig with_batch(RunConfig run, std::int64_t batch) {
    run.batch = {.per_gpu = batch};
    return run;
  }
  /// Votes as training does; no rank requests a stop.
  void vote() { static_cast<void>(vote_.reason(steps_, false)); }
  void measure_training(const ScalingOptions& options, RankMeasurement& found) {
    note_sums();
    constexpr int kProbe = 3;
    const int steps = steps_in(options.window_seconds, window(Work::whole, kProbe));
    const bool alone = ranks_.size() == 1;
    // Differences of adjacent windows: what slows the machine down for a while slows both.
    std::vector<double> whole, exposed, data, sums;
    for (int i = 0; i < options.windows; ++i) {
      whole.push_back(window(Work::whole, steps));
      // One rank has no all-reduces: a second window would only add noise.
      const double without_sums = alone ? whole.back() : window(Work::without_sums, steps);
      exposed.push_back(whole.back() - without_sums);
      data.push_back(without_sums - window(Work::without_data, steps));
      sums.push_back(alone ? 0 : window_of_sums(steps));
    }
    found.samples = session_.step().samples() / ranks_.size();
    found.seconds = {.whole = median(whole),
                     .without_sums = median(whole) - median(exposed),
                     .without_data = median(whole) - median(exposed) - median(data),
                     .sums = median(sums)};
    if (!alone) found.collectives = each_sum(steps);
  }
  /// Only forward passes, over a batch that stays on the device.
  void measure_inference(const ScalingOptions& options, RankMeasurement& found) {
    constexpr int kProbe = 3;
    load();
    const int steps = steps_in(options.window_seconds, window_of_inference(kProbe));
    std::vector<double> passes;
    for (int i = 0; i < options.windows; ++i) passes.push_back(window_of_inference(steps));
    static_cast<void>(session_.model().take_totals());
    const double pass = median(passes);
    found.samples = session_.model().memory().batch();
    found.seconds = {.whole = pass, .without_sums = pass, .without_data = pass};
  }
  /// Number of steps in a window if one takes `step` seconds, the same on all ranks.
  [[nodiscard]] int steps_in(double seconds, double step) {
    constexpr int kFewest = 3, kMost = 1'000'000;
    const double steps = seconds / step;
    return ranks_.largest(static_cast<int>(std::clamp<double>(steps, kFewest, kMost)));
  }
  /// Notes the all-reduces of the first step, which is not recorded.
  void note_sums() {
    begin_again(Work::whole);
    sums_.set_mode(TimedAllReduce::Mode::note);
    step(Work::whole);
  }
  /// Every window is the beginning of the same training: weights are equal on all ranks, which
  /// drift apart without all-reduces, and have the magnitudes of training.
  void begin_again(Work work) {
    TrainStep& training = session_.step();
    if (training.results().pending() > 0) check(training.results().take_all());
    session_.model().initialize(static_cast<std::uint64_t>(session_.config().seed));
    training.start_at(start_);
    training.record_again();
    steps_ = 0;
    sums_.set_mode(work == Work::whole ? TimedAllReduce::Mode::make
                                       : TimedAllReduce::Mode::leave_out);
    if (work == Work::without_data) load();
  }
  [[nodiscard]] const Batch& next() {
    Feeder& feeder = *session_.data().train_feeder;
    if (batches_left_ == 0) {
      feeder.start(epoch_);
      session_.model().set_epoch(epoch_);
      batches_left_ = feeder.batches_per_epoch();
      ++epoch_;
    }
    --batches_left_;
    return feeder.next();
  }
  void load() {
    session_.step().load([this]() -> const Batch& { return next(); });
  }
  void step(Work work) {
    TrainStep& training = session_.step();
    if (work == Work::whole) vote();
    ranks_.progress(++steps_, kMeasuring);
    if (work == Work::without_data) {
      training.run();
    } else {
      training.run([this]() -> const Batch& { return next(); });
    }
    if (training.results().full()) check(training.results().take_oldest());
  }
  /// Only what all ranks do together in a step.
  void sums() {
    vote();
    ranks_.progress(++steps_, kMeasuring);
    sums_.make_noted();
  }
  template <class Step>
  [[nodiscard]] double seconds_a_step(int steps, const Step& step) {
    Queue& queue = *session_.device().queue;
    for (int i = 0; i < kUntimedSteps; ++i) step();
    queue.wait();
    sums_.wait();
    ranks_.communicator().barrier();
    const double begin = ranks_.clock().seconds();
    for (int i = 0; i < steps; ++i) step();
    queue.wait();
    sums_.wait();
    return (ranks_.clock().seconds() - begin) / steps;
  }
  [[nodiscard]] double window(Work work, int steps) {
    begin_again(work);
    return seconds_a_step(steps, [&] { step(work); });
  }
  [[nodiscard]] double window_of_sums(int steps) {
    sums_.clear_noted();
    return seconds_a_step(steps, [this] { sums(); });
  }
  /// Each all-reduce of a step alone.
  [[nodiscard]] std::vector<CollectiveTime> each_sum(int steps) {
    std::vector<CollectiveTime> all;
    for (std::size_t call = 0; call < sums_.noted(); ++call) {
      CollectiveTime& one = all.emplace_back();
      for (const SumPart& part : sums_.noted_parts(call)) {
        if (part.count == 0) continue;
        one.elements += (one.elements.empty() ? "" : " and ") + with_separators(part.count) + " " +
                        std::string(name_of(part.type)) + " " + plural(part.count, "element");
        one.bytes += part.count * static_cast<std::int64_t>(size_of(part.type));
      }
      sums_.clear_noted();
      one.seconds = seconds_a_step(steps, [&] {
        ranks_.progress(++steps_, kMeasuring);
        sums_.make_noted(call);
      });
    }
    return all;
  }
  [[nodiscard]] double window_of_inference(int steps) {
    return seconds_a_step(steps, [this] {
      ranks_.progress(++steps_, kMeasuring);
      session_.model().evaluate(EvaluatedSplit::training);  // the batch stays the loaded one
    });
  }
  void check(std::span<const StepResult> results) const {
    const bool finite = std::ranges::all_of(results, &StepResult::finite);
    if (finite) return;
    throw Error(
        ErrorKind::diverged,
        "training diverged within the first steps, so its time means nothing; lower the learning "
        "rate (--set)");
  }

  RankGroup& ranks_;
  TimedAllReduce sums_;
  Session session_;
  StopVote vote_;
  StepPosition start_;
  std::int64_t steps_ = 0;
  std::uint32_t epoch_ = 0;
  std::int64_t batches_left_ = 0;  // batches left in the epoch
};

}  // namespace

ScalingRound measure_scaling(RunConfig run, const ScalingOptions& options, RankGroup& ranks) {
  try {
    const RankMeasurement own = naming_gpu(
        options.device, [&] { return RankBench(std::move(run), options, ranks).measure(options); });
    ScalingRound all;
    for (const std::string& text : ranks.gather(json_line(json_of(own)))) {
      all.push_back(measurement_of(
          parse_json(text, {.name = "the measurement of a rank", .kind = ErrorKind::device})));
    }
    ranks.sign_off();
    return all;
  } catch (const Error& error) {
    throw first_of_ranks(ranks, error);
  }
}

}  // namespace trainyard
