// Batch norm over the batches of several replicas, on every device: replicas are threads that
// all-reduce through Gloo.
#include <doctest/doctest.h>

#include <span>

#include "case_check.h"
#include "ops/bn.h"
#include "ranks/comm/communicator.h"
#include "thread_ranks.h"

namespace trainyard::op_tests {
namespace {

using testing::Outcomes;

/// The case with `batch` samples.
OpCase with_sync(const OpCase& op_case, bool sync, std::int64_t batch) {
  OpCase made = op_case;
  BnAttributes attributes = dynamic_cast<const BnOp&>(*op_case.op).values();
  attributes.sync = sync;
  made.op = std::make_shared<BnOp>(attributes);
  for (Shape& shape : made.inputs) shape = shape.with(0, batch);
  made.signature = made.op->infer(made.inputs);
  return made;
}

/// The part of one replica: an equal share of the samples.
std::vector<Values> share_of(const std::vector<Values>& whole, int replica, int replicas) {
  std::vector<Values> shares;
  for (const Values& values : whole) {
    const std::size_t count = values.size() / static_cast<std::size_t>(replicas);
    const double* const first = values.data() + count * static_cast<std::size_t>(replica);
    shares.emplace_back(first, first + count);
  }
  return shares;
}

CaseValues share_of(const CaseValues& whole, int replica, int replicas) {
  CaseValues share = whole;
  share.inputs = share_of(whole.inputs, replica, replicas);
  share.output_gradients = share_of(whole.output_gradients, replica, replicas);
  return share;
}

void append(std::vector<Values>& to, const std::vector<Values>& more) {
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i].insert(to[i].end(), more[i].begin(), more[i].end());
}

/// The results of one replica with the whole batch: samples concatenated, parameters' gradients
/// summed, statistics from any replica.
CaseResults whole_of(std::span<const CaseResults> replicas) {
  CaseResults whole = replicas[0];
  for (const CaseResults& replica : replicas.subspan(1)) {
    append(whole.outputs, replica.outputs);
    append(whole.evaluated, replica.evaluated);
    append(whole.input_gradients, replica.input_gradients);
    for (std::size_t p = 0; p < whole.parameter_gradients.size(); ++p) {
      for (std::size_t i = 0; i < whole.parameter_gradients[p].size(); ++i) {
        whole.parameter_gradients[p][i] += replica.parameter_gradients[p][i];
      }
    }
  }
  return whole;
}

/// A case on a device, for one replica and for one with the whole batch.
struct Subject {
  OpCase part, whole;
  std::size_t device = 0;  // index in the list
  BindOptions options;
  CaseValues values;  // values of the whole batch
};

std::vector<Subject> subjects_of(const std::vector<DeviceUnderTest>& devices, bool sync,
                                 int replicas, std::int64_t batch) {
  std::vector<Subject> subjects;
  for (const OpCase& op_case : load_cases("ops/bn.yaml")) {
    if (op_case.reads_running) continue;  // fixed statistics are of no batch
    const OpCase part = with_sync(op_case, sync, batch);
    const OpCase whole = with_sync(op_case, sync, batch * replicas);
    for (std::size_t d = 0; d < devices.size(); ++d) {
      for (const LayoutChoice& layouts : layouts_for(part, devices[d])) {
        const BindOptions options{.type = devices[d].type, .layouts = layouts};
        subjects.push_back({part, whole, d, options, draw_values(whole, devices[d].type)});
      }
    }
  }
  return subjects;
}

/// The results of each subject on each replica: [replica][subject].
std::vector<std::vector<CaseResults>> run_replicas(const std::vector<DeviceUnderTest>& devices,
                                                   const std::vector<Subject>& subjects,
                                                   int replicas) {
  std::vector<std::vector<CaseResults>> results(static_cast<std::size_t>(replicas));
  const Outcomes outcomes =
      testing::run_gloo(testing::StoreKind::memory, replicas, [&](Communicator& group) {
        const auto queue = make_cpu_device()->make_queue();
        const auto statistics_sum = make_statistics_sum(group, *queue);
        std::vector<std::unique_ptr<ExecutorFactory>> factories;
        for (const DeviceUnderTest& device : devices) factories.push_back(device.make());
        for (const Subject& subject : subjects) {
          BindOptions options = subject.options;
          options.statistics_sum = statistics_sum.get();
          results[static_cast<std::size_t>(group.rank())].push_back(
              run_once(subject.part, *factories[subject.device], options,
                       share_of(subject.values, group.rank(), replicas)));
        }
      });
  REQUIRE(outcomes == Outcomes(static_cast<std::size_t>(replicas)));
  return results;
}

std::vector<CaseResults> of_subject(const std::vector<std::vector<CaseResults>>& results,
                                    std::size_t subject) {
  std::vector<CaseResults> replicas;
  for (const auto& replica : results) replicas.push_back(replica.at(subject));
  return replicas;
}

void check_whole(const Subject& subject, const DeviceUnderTest& device,
                 const std::vector<CaseResults>& replicas) {
  CAPTURE(device.name);
  CAPTURE(subject.whole.name);
  CAPTURE(subject.options.layouts.output_block);
  CAPTURE(subject.options.layouts.channels_last);
  CAPTURE(subject.options.layouts.sliced);
  const auto reference = make_reference_executors();
  const CaseResults expected = run_once(subject.whole, *reference, {}, subject.values);
  const Tolerances allowed =
      tolerances(subject.whole, subject.values, expected, device.type, device.extra_roundings);
  compare_all(whole_of(replicas), expected, allowed, subject.whole);
  for (const CaseResults& replica : replicas) {
    CHECK_MESSAGE(replica.statistics == replicas[0].statistics,
                  "replicas have statistics of different bits");
  }
}

void check_replicas(int replicas, std::int64_t batch) {
  const std::vector<DeviceUnderTest> devices = devices_under_test();
  const std::vector<Subject> subjects = subjects_of(devices, true, replicas, batch);
  REQUIRE(subjects.size() > 10 * devices.size());
  const auto results = run_replicas(devices, subjects, replicas);
  for (std::size_t s = 0; s < subjects.size(); ++s) {
    check_whole(subjects[s], devices[subjects[s].device], of_subject(results, s));
  }
}

/// Records the requested sums and leaves each unchanged.
class NotedSums final : public StatisticsSum {
 public:
  explicit NotedSums(int replicas) : replicas_(replicas) {}
  [[nodiscard]] int replicas() const override { return replicas_; }
  void sum(double*, std::int64_t count) override { counts_.push_back(count); }
  [[nodiscard]] std::vector<std::int64_t> take() { return std::exchange(counts_, {}); }

 private:
  int replicas_;
  std::vector<std::int64_t> counts_;
};

/// Another replica with the same samples.
class Twin final : public StatisticsSum {
 public:
  [[nodiscard]] int replicas() const override { return 2; }
  void sum(double* values, std::int64_t count) override {
    for (std::int64_t i = 0; i < count; ++i) values[i] *= 2;
  }
};

/// A residual's batch norm over maps so large that the CPU processes one block of channels after
/// another.
OpCase large_case(bool sync) {
  OpCase made{.name = "large"};
  const Shape maps{1, 32, 272, 272};
  made.op = std::make_shared<BnOp>(BnAttributes{.sync = sync, .relu = true, .residual = true});
  made.inputs = {maps, maps};
  made.types = {DType::f32, DType::f32};
  made.signature = made.op->infer(made.inputs);
  made.valid = 1;
  return made;
}

}  // namespace

TEST_CASE("replicas that sync a batch norm match one replica with the whole batch") {
  check_replicas(2, 4);
  check_replicas(3, 2);
}

TEST_CASE("replicas that do not sync have their own statistics") {
  const std::vector<DeviceUnderTest> devices = devices_under_test();
  const std::vector<Subject> subjects = subjects_of(devices, false, 2, 4);
  const auto results = run_replicas(devices, subjects, 2);
  for (std::size_t s = 0; s < subjects.size(); ++s) {
    CAPTURE(devices[subjects[s].device].name);
    CAPTURE(subjects[s].part.name);
    CHECK(results[0][s].statistics != results[1][s].statistics);
  }
}

TEST_CASE("a training pass with sync does one all-reduce of two values per channel") {
  using Counts = std::vector<std::int64_t>;
  const std::vector<DeviceUnderTest> devices = devices_under_test();
  for (const bool sync : {true, false}) {
    for (Subject& subject : subjects_of(devices, sync, 1, 3)) {
      CAPTURE(devices[subject.device].name);
      CAPTURE(subject.part.name);
      const Counts one = sync ? Counts{2 * subject.part.inputs[0].c()} : Counts{};
      NotedSums sums(2);
      subject.options.statistics_sum = &sums;
      const auto factory = devices[subject.device].make();
      BoundCase bound(subject.part, *factory, subject.options);
      bound.load(subject.values);
      bound.evaluate();
      CHECK(sums.take() == Counts{});
      bound.forward();
      CHECK(sums.take() == one);
      bound.backward();
      CHECK(sums.take() == one);
      // Without the input's gradient the sums of the others are not needed.
      subject.options.needs_gradients.assign(subject.part.inputs.size(), true);
      subject.options.needs_gradients[0] = false;
      BoundCase unwanted(subject.part, *factory, subject.options);
      unwanted.load(subject.values);
      unwanted.forward();
      CHECK(sums.take() == one);
      unwanted.backward();
      CHECK(sums.take() == Counts{});
    }
  }
}

TEST_CASE("one replica with sync is bit-identical to one without") {
  const std::vector<DeviceUnderTest> devices = devices_under_test();
  const std::vector<Subject> without = subjects_of(devices, false, 1, 3);
  std::vector<Subject> with = subjects_of(devices, true, 1, 3);
  REQUIRE(with.size() == without.size());
  for (std::size_t s = 0; s < with.size(); ++s) {
    CAPTURE(devices[with[s].device].name);
    CAPTURE(with[s].part.name);
    const auto factory = devices[with[s].device].make();
    NotedSums alone(1);
    const CaseResults expected =
        run_once(without[s].part, *factory, without[s].options, without[s].values);
    CHECK(run_once(with[s].part, *factory, with[s].options, with[s].values) == expected);
    with[s].options.statistics_sum = &alone;
    CHECK(run_once(with[s].part, *factory, with[s].options, with[s].values) == expected);
    CHECK(alone.take().empty());
  }
}

TEST_CASE(
    "the moments of two replicas with the same samples equal those of one, block after block") {
  const OpCase alone = large_case(false), joined = large_case(true);
  for (const DeviceUnderTest& device : cpu_device()) {
    const auto factory = device.make();
    const CaseValues values = draw_values(alone, device.type);
    const CaseResults expected = run_once(alone, *make_reference_executors(), {}, values);
    const Tolerances allowed = tolerances(alone, values, expected, device.type);
    Twin twin;
    BindOptions options{.type = device.type, .layouts = {16, 16}};
    compare_all(run_once(alone, *factory, options, values), expected, allowed, alone);
    options.statistics_sum = &twin;
    compare_all(run_once(joined, *factory, options, values), expected, allowed, joined);
  }
}

TEST_CASE("a synced batch norm is bit-identical in place and with two threads") {
  const std::vector<DeviceUnderTest> devices = devices_under_test();
  const std::vector<Subject> subjects = subjects_of(devices, true, 2, 4);
  std::vector<Subject> changed = subjects;
  for (Subject& subject : changed) {
    subject.options.in_place = true;
    subject.options.threads = 2;
  }
  CHECK(run_replicas(devices, changed, 2) == run_replicas(devices, subjects, 2));
}

}  // namespace trainyard::op_tests
