// Which nodes of a part of a step are timed, and what is made of the times that launches note.
#include "bench/node_times.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "../base/error_of.h"
#include "bench/counted_step.h"
#include "counted/counted_gpu.h"
#include "run/session/session_model.h"

using namespace trainyard;

namespace {

counted::Launch own(const std::string& functor, std::size_t bytes = 8) {
  return {.kind = "bn", .functor = functor, .bytes = bytes};
}
counted::Launch call(double flop = 1, bool beside = false) {
  return {
      .kind = "convolution", .functor = {}, .library = true, .flop = flop, .on_side_queue = beside};
}

RunConfig shipped(const char* name) {
  const std::filesystem::path configs = std::filesystem::path(TY_SOURCE_DIR) / "configs";
  return read_run_config(configs / (std::string(name) + ".yaml"), {});
}

/// Functors of a replay with their queue, begin and end.
std::vector<LaunchSpan> replayed(std::uint64_t zero) {
  return {{"Sums", 0, zero, zero + 4000},
          {"Normalise", 0, zero + 5000, zero + 8000},
          {"Unpack", 1, zero + 6000, zero + 9000},
          {"Extra", 0, zero + 20000, zero + 21000},
          {"Update", 0, zero + 23000, zero + 24000}};
}

class Played final : public TimedRecording {
 public:
  [[nodiscard]] std::vector<LaunchSpan> replay() override { return replayed(1000 * ++count_); }
  std::uint64_t count_ = 0;
};

}  // namespace

TEST_CASE("a launch of ours is a node, and the rest are the libraries'") {
  const auto ranges = [](const std::vector<counted::Launch>& launches, std::size_t nodes) {
    std::vector<NodeRange> found;
    for (const LaunchNodes& of : nodes_of_launches(launches, nodes)) found.push_back(of.nodes);
    return found;
  };
  using Ranges = std::vector<NodeRange>;
  CHECK(ranges({own("A"), own("B")}, 2) == Ranges{{0, 1}, {1, 1}});
  CHECK(ranges({call(), own("A")}, 2) == Ranges{{0, 1}, {1, 1}});
  CHECK(ranges({call(), own("A")}, 5) == Ranges{{0, 4}, {4, 1}});
  CHECK(ranges({own("A"), call(1), own("B"), call(2)}, 6) ==
        Ranges{{0, 1}, {1, 2}, {3, 1}, {4, 2}});
  CHECK(ranges({}, 0).empty());
}

TEST_CASE("launches that are alike are timed once") {
  const auto found = nodes_of_launches({call(1), own("A"), call(1), own("A"), own("A", 16)}, 5);
  REQUIRE(found.size() == 3);
  CHECK(found[0].count == 2);
  CHECK(found[0].nodes == NodeRange{0, 1});
  CHECK(found[1].count == 2);
  CHECK(found[1].nodes == NodeRange{1, 1});
  CHECK(found[2].count == 1);
  CHECK(found[2].nodes == NodeRange{4, 1});
}

TEST_CASE("where nodes and launches do not come out they are timed together") {
  const std::vector<std::pair<std::vector<counted::Launch>, std::size_t>> cases = {
      {{own("A"), own("B")}, 3},           // no call to which the third belongs
      {{own("A"), own("B")}, 1},           // one was not launched
      {{call(3), own("A"), call(4)}, 4},   // three nodes of two calls
      {{call(3), own("A"), call(4)}, 1}};  // none of the calls
  for (const auto& [launches, nodes] : cases) {
    CAPTURE(nodes);
    const auto found = nodes_of_launches(launches, nodes);
    REQUIRE(found.size() == 1);
    CHECK(found[0].launch.kind == "");
    CHECK(found[0].nodes == NodeRange{0, nodes});
    double flop = 0;
    for (const counted::Launch& launch : launches) flop += launch.flop;
    CHECK(found[0].launch.flop == flop);
  }
}

TEST_CASE("the parts of a step have its launches, those of parameters' gradients beside") {
  for (const char* const name : {"resnet_cifar10", "cnn_cifar10", "imdb_lstm"}) {
    CAPTURE(name);
    const RunConfig run = shipped(name);
    const TrainingGraph graph = make_training_graph(run, 16);
    const Target target = cuda_target(Precision::bf16);
    const std::vector<counted::Launch> whole = count_step(run, graph, target);
    std::size_t at = 0, beside = 0;
    for (const std::vector<counted::Launch>& part : count_parts(run, graph, target)) {
      for (const counted::Launch& launch : part) {
        REQUIRE(at < whole.size());
        CHECK(launch.kind == whole[at].kind);
        CHECK(launch.functor == whole[at].functor);
        CHECK(launch.bytes == whole[at].bytes);
        CHECK(launch.on_side_queue == whole[at].on_side_queue);
        if (launch.on_side_queue) ++beside;
        ++at;
      }
    }
    CHECK(at == whole.size());
    if (std::string(name) == "resnet_cifar10") CHECK(beside == 25);
  }
}

TEST_CASE("spans are microseconds from the first launch, with gaps on their own queue") {
  // One of four replays is slow: a quarter is left out on either side.
  std::vector<std::vector<LaunchSpan>> replays = {replayed(500), replayed(900), replayed(100),
                                                  replayed(700)};
  for (LaunchSpan& span : replays[1]) span.end += 7'000'000;
  const std::vector<counted::Launch> launches = {own("Sums"),   call(),        own("Normalise"),
                                                 call(1, true), call(1, true), own("Unpack"),
                                                 call(),        own("Update")};
  std::vector<counted::Launch> beside = launches;
  beside[5].on_side_queue = true;
  const std::vector<StepSpan> spans = step_spans(replays, beside);
  REQUIRE(spans.size() == 5);
  CHECK(spans[0].begin == doctest::Approx(0));
  CHECK(spans[0].end == doctest::Approx(4));
  CHECK_FALSE(spans[0].gap.has_value());
  CHECK(spans[0].calls == 0);
  CHECK(spans[1].kind == "bn");
  CHECK(spans[1].gap.value() == doctest::Approx(1));
  CHECK(spans[1].calls == 1);
  CHECK(spans[2].queue == 1);
  CHECK_FALSE(spans[2].gap.has_value());
  CHECK(spans[2].calls == 2);
  CHECK(spans[3].functor == "Extra");  // which is not counted
  CHECK(spans[3].kind == "");
  CHECK(spans[3].gap.value() == doctest::Approx(12));
  CHECK(spans[4].functor == "Update");
  CHECK(spans[4].gap.value() == doctest::Approx(2));
  CHECK(spans[4].calls == 1);
}

TEST_CASE("a GPU part that does not note times is an error that says how to get one") {
  const RunConfig run = shipped("cnn_cifar10");
  counted::Gpu gpu;
  const Target target = cuda_target(Precision::bf16);
  StepRunner runner(run, make_training_graph(run, 4), 1, {gpu.compute(), target});
  runner.step();
  CHECK(testing::error_of(ErrorKind::command_line, [&] {
          static_cast<void>(measure_spans(runner, nullptr, {}));
        }).find("-DTRAINYARD_NODE_TIMES=ON") != std::string::npos);
  Played recording;
  CHECK(measure_spans(runner, &recording, {}).size() == 5);
  CHECK(recording.count_ > 20);
}
