#include <doctest/doctest.h>

#include <atomic>

#include "ranks/comm/communicator.h"
#include "thread_ranks.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

struct RankValue {
  int rank;
  double value;
};

/// True on every rank of a group of three.
bool holds_on_all(const std::function<bool(Communicator&, Queue&)>& holds) {
  std::atomic<int> count{0};
  const Outcomes outcomes = run_gloo(StoreKind::memory, 3, [&](Communicator& group) {
    const auto queue = make_cpu_device()->make_queue();
    if (holds(group, *queue)) ++count;
  });
  return outcomes == Outcomes(3) && count == 3;
}

}  // namespace

TEST_CASE("values of all ranks are ordered by rank") {
  CHECK(holds_on_all([](Communicator& group, Queue& queue) {
    const auto all = gather_values(group, queue, RankValue{group.rank(), group.rank() * 0.5});
    return all.size() == 3 && all[0].rank == 0 && all[2].rank == 2 && all[1].value == 0.5;
  }));
}

TEST_CASE("texts of all ranks are ordered by rank, whatever their lengths") {
  CHECK(holds_on_all([](Communicator& group, Queue& queue) {
    const std::vector<std::string> texts{"", "one", "a longer text"};
    return gather_texts(group, queue, texts[static_cast<std::size_t>(group.rank())]) == texts;
  }));
  CHECK(holds_on_all([](Communicator& group, Queue& queue) {
    return gather_texts(group, queue, "") == std::vector<std::string>(3);
  }));
}

TEST_CASE("the largest value is found on any rank, also among negative ones") {
  CHECK(holds_on_all([](Communicator& group, Queue& queue) {
    return largest(group, queue, -1.0 - group.rank()) == -1.0 &&
           largest(group, queue, group.rank() == 1 ? 7.0 : 2.0) == 7.0;
  }));
}

TEST_CASE("a text is sent from its root to all") {
  CHECK(holds_on_all([](Communicator& group, Queue& queue) {
    const std::string mine = "from " + std::string(static_cast<std::size_t>(group.rank()), '.');
    return broadcast_text(group, queue, mine, 1) == "from ." &&
           broadcast_text(group, queue, "", 0).empty();
  }));
}
