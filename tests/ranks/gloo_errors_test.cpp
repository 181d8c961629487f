// What the others see when a rank does not take part.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <latch>

#include "base/error.h"
#include "memory_store.h"
#include "ranks/comm/gloo_mesh.h"
#include "thread_ranks.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void sum_floats(Communicator& group, std::int64_t count) {
  const auto queue = make_cpu_device()->make_queue();
  std::vector<float> data(static_cast<std::size_t>(count), 1.0F);
  group.all_reduce_sum(*queue, data.data(), count, DType::f32);
}

}  // namespace

TEST_CASE("a rank that leaves midway is an error on every other, long before the limit") {
  const Moment begin = std::chrono::steady_clock::now();
  const Outcomes outcomes = run_gloo(StoreKind::tcp, 4, [](Communicator& group) {
    sum_floats(group, 1000);
    if (group.rank() == 2) return;
    sum_floats(group, 1000);
  });
  CHECK(seconds_since(begin) < 30);
  CHECK(outcomes[2].empty());
  for (const int rank : {0, 1, 3}) {
    const std::string& text = outcomes[static_cast<std::size_t>(rank)];
    INFO(text);
    const std::string number = std::to_string(rank);
    CHECK(contains(text, "rank " + number + " (host" + number +
                             "): all_reduce_sum of 1000 f32 elements over 4 ranks failed: rank "));
    CHECK(contains(text, " is gone ("));
    CHECK(contains(text, "; see its output"));
  }
  // One of them has noticed the rank that left; others may have noticed one that had noticed it.
  CHECK(std::ranges::any_of(outcomes, [](const std::string& text) {
    return contains(text, "failed: rank 2 (host2) is gone");
  }));
}

TEST_CASE("a rank that does not arrive is named when the limit has passed") {
  const auto store = make_memory_store();
  std::vector<std::unique_ptr<Communicator>> groups(2);
  const Outcomes made = run_threads(2, [&](int rank) {
    groups[static_cast<std::size_t>(rank)] =
        make_gloo_communicator(rank, 2, *store, local_options(rank, Milliseconds(150)));
  });
  REQUIRE(made == Outcomes(2));
  const Moment begin = std::chrono::steady_clock::now();
  // Rank 1 is alive and does nothing.
  // Gloo's own text after it contains what was left of the limit.
  CHECK_THROWS_WITH_AS(groups[0]->barrier(),
                       doctest::Contains("rank 0 (host0): barrier of 1 byte per rank over 2 ranks "
                                         "failed: rank 1 (host1) did not take part within 0.15 s "
                                         "(Timed out waiting "),
                       Error);
  CHECK(seconds_since(begin) >= 0.15);
  CHECK(seconds_since(begin) < 30);
}

TEST_CASE("after an error a group reports it, and its other ranks do not wait for their limits") {
  const Outcomes outcomes = run_stores(StoreKind::memory, 2, [](int rank, Store& store) {
    const Milliseconds limit(rank == 1 ? 100 : 60'000);
    const auto group = make_gloo_communicator(rank, 2, store, local_options(rank, limit));
    // Rank 0 waits in another call: rank 1's barrier ends at its limit, and ends that call.
    if (rank == 1) CHECK_THROWS_AS(group->barrier(), Error);
    sum_floats(*group, 5);
  });
  CHECK(contains(outcomes[0], "all_reduce_sum of 5 f32 elements over 2 ranks failed: rank 1"));
  CHECK(outcomes[1] ==
        "rank 1 (host1): all_reduce_sum of 5 f32 elements over 2 ranks failed: an earlier call "
        "failed, and its connections were closed");
}

TEST_CASE("a rank whose call failed is not waited for, though it is still alive") {
  std::latch ended(1);
  const Outcomes outcomes = run_gloo(
      StoreKind::memory, 4,
      [&](Communicator& group) {
        // Rank 0 leaves; rank 1 receives from it, and rank 3 from rank 1.
        if (group.rank() == 0 || group.rank() == 2) return;
        const auto queue = make_cpu_device()->make_queue();
        std::vector<std::byte> bytes(100);
        try {
          group.broadcast(*queue, bytes.data(), 100, 0);
        } catch (const Error&) {
          if (group.rank() == 3) ended.count_down();
          ended.wait();
          throw;
        }
      },
      Milliseconds(5'000));
  CAPTURE(outcomes[1]);
  CAPTURE(outcomes[3]);
  CHECK(
      contains(outcomes[1], "broadcast of 100 bytes over 4 ranks failed: rank 0 (host0) is gone"));
  CHECK(
      contains(outcomes[3], "broadcast of 100 bytes over 4 ranks failed: rank 1 (host1) is gone"));
}

TEST_CASE("writing to a connection that the other side has closed is an error, not a signal") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  ::close(ends[0]);
  {
    const SigpipeGuard guard;
    CHECK(::write(ends[1], "x", 1) == -1);
    CHECK(errno == EPIPE);
  }
  sigset_t pending;
  sigpending(&pending);
  CHECK(sigismember(&pending, SIGPIPE) == 0);
  ::close(ends[1]);
}

TEST_CASE("calls that do not belong together end at their limit, not with wrong numbers") {
  const Outcomes outcomes = run_gloo(
      StoreKind::memory, 2,
      [](Communicator& group) { sum_floats(group, group.rank() == 0 ? 100 : 200); },
      Milliseconds(200));
  CHECK(contains(outcomes[0], "all_reduce_sum of 100 f32 elements over 2 ranks failed"));
  CHECK(contains(outcomes[1], "all_reduce_sum of 200 f32 elements over 2 ranks failed"));
}

TEST_CASE("a rank that never appears is named by its number") {
  const auto store = make_memory_store();
  GlooOptions options = local_options(0, Milliseconds(1000));
  options.connect = Milliseconds(100);
  CHECK_THROWS_WITH_AS(
      make_gloo_communicator(0, 2, *store, options),
      "rank 0 (host0): connecting the group 'test' of 2 ranks failed: no rank set 'test/rank 1 for "
      "0' within 0.1 s; are all ranks running?",
      Error);
}

TEST_CASE("no rank continues before those it connects to have reported that they are connected") {
  const auto store = make_memory_store();
  /// A rank that stays silent at the end of its handshakes.
  class Silent final : public Store {
   public:
    explicit Silent(Store& store) : store_(store) {}
    void set(std::string_view key, std::string_view value) override {
      if (!key.ends_with(" connected 0")) store_.set(key, value);
    }
    std::string get(std::string_view key, Milliseconds limit) override {
      return store_.get(key, limit);
    }
    void wait(std::string_view key, Milliseconds limit) override { store_.wait(key, limit); }
    std::int64_t add(std::string_view key, std::int64_t amount) override {
      return store_.add(key, amount);
    }

   private:
    Store& store_;
  } silent(*store);
  const Outcomes outcomes = run_threads(2, [&](int rank) {
    GlooOptions options = local_options(rank, Milliseconds(60'000));
    options.connect = Milliseconds(2'000);
    static_cast<void>(
        make_gloo_communicator(rank, 2, rank == 0 ? *store : static_cast<Store&>(silent), options));
  });
  CHECK(outcomes[0] ==
        "rank 0 (host0): connecting the group 'test' of 2 ranks failed: no rank set "
        "'test/rank 1 connected 0' within 2 s; are all ranks running?");
}

TEST_CASE("an interface that does not exist, or one together with an address, is refused") {
  const auto store = make_memory_store();
  GlooOptions options = local_options(0, Milliseconds(1000));
  options.interface = "nowhere9";
  CHECK_THROWS_WITH_AS(make_gloo_communicator(0, 1, *store, options),
                       "rank 0 (host0): connecting the group 'test' of 1 ranks failed: both the "
                       "network interface 'nowhere9' and the address '127.0.0.1' are given; leave "
                       "one out",
                       Error);
  options.address.clear();
  std::string text;
  try {
    static_cast<void>(make_gloo_communicator(0, 1, *store, options));
  } catch (const Error& error) {
    text = error.what();
  }
  CHECK(contains(text, "no network interface 'nowhere9' with an address; this machine has "));
  CHECK(contains(text, "lo"));
}

TEST_CASE("ranks connect at the address of an interface") {
  const auto store = make_memory_store();
  const Outcomes outcomes = run_threads(2, [&](int rank) {
    GlooOptions options = local_options(rank, Milliseconds(60'000));
    options.address.clear();
    options.interface = "lo";
    make_gloo_communicator(rank, 2, *store, options)->barrier();
  });
  CHECK(outcomes == Outcomes(2));
}

TEST_CASE("bytes are not all-reduced, and a root is a rank of the group") {
  const auto store = make_memory_store();
  const auto queue = make_cpu_device()->make_queue();
  const auto group = make_gloo_communicator(0, 1, *store, local_options(0, Milliseconds(1000)));
  std::uint8_t byte = 1;
  CHECK_THROWS_AS(group->all_reduce_sum(*queue, &byte, 1, DType::u8), Error);
  CHECK_THROWS_AS(group->broadcast(*queue, &byte, 1, 1), Error);
  CHECK_THROWS_AS(
      static_cast<void>(make_gloo_communicator(0, 1, *store, local_options(0, Milliseconds(0)))),
      Error);
}
