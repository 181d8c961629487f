#include "ranks/rendezvous/store.h"

#include <doctest/doctest.h>

#include <atomic>

#include "../thread_ranks.h"
#include "base/error.h"
#include "ranks/rendezvous/store_server.h"
#include "thread_ranks.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

/// Runs work(rank, store) with stores in memory and over TCP; nothing may be thrown.
void with_stores(int ranks, const std::function<void(int, Store&)>& work) {
  for (const StoreKind kind : {StoreKind::memory, StoreKind::tcp}) {
    CAPTURE(static_cast<int>(kind));
    CHECK(run_stores(kind, ranks, work) == Outcomes(static_cast<std::size_t>(ranks)));
  }
}

void check_message(const std::string& expected, const std::function<void(Store&)>& work) {
  for (const StoreKind kind : {StoreKind::memory, StoreKind::tcp}) {
    const Outcomes outcomes = run_stores(kind, 1, [&](int, Store& store) { work(store); });
    CHECK(outcomes[0].find(expected) != std::string::npos);
    INFO(outcomes[0]);
  }
}

}  // namespace

TEST_CASE("a value is read back as set, with any bytes and when empty") {
  with_stores(1, [](int, Store& store) {
    std::string all;
    for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
    store.set("all", all);
    store.set("empty", "");
    store.set(std::string(256, 'k'), std::string(std::size_t{1} << 20, 'v'));
    CHECK(store.get("all", kLong) == all);
    CHECK(store.get("empty", kLong).empty());
    CHECK(store.get(std::string(256, 'k'), kLong).size() == std::size_t{1} << 20);
    store.set("all", "new");
    CHECK(store.get("all", kLong) == "new");
  });
}

TEST_CASE("get and wait return when another rank sets the key") {
  with_stores(3, [](int rank, Store& store) {
    // Each waits for the one before it, the first for none.
    if (rank == 1) CHECK(store.get("from 0", kLong) == "zero");
    if (rank == 2) store.wait("from 1", kLong);
    store.set("from " + std::to_string(rank), rank == 0 ? "zero" : "x");
    store.wait("from 2", kLong);
  });
}

TEST_CASE("a key that is not set is named when the limit has passed") {
  check_message("no rank set 'never' within 0.05 s; are all ranks running?",
                [](Store& store) { static_cast<void>(store.get("never", Milliseconds(50))); });
  check_message("no rank set 'never' within 0.05 s; are all ranks running?",
                [](Store& store) { store.wait("never", Milliseconds(50)); });
}

TEST_CASE("a store still works after a key was late") {
  with_stores(1, [](int, Store& store) {
    CHECK_THROWS_AS(store.wait("later", Milliseconds(1)), Error);
    store.set("later", "now");
    CHECK(store.get("later", kLong) == "now");
  });
}

TEST_CASE("additions of all ranks are counted once each") {
  constexpr int kRanks = 4;
  for (const StoreKind kind : {StoreKind::memory, StoreKind::tcp}) {
    std::atomic<int> last{0};
    const Outcomes outcomes = run_stores(kind, kRanks, [&](int, Store& store) {
      for (int i = 0; i < 50; ++i) {
        if (store.add("count", 3) == 3 * 50 * kRanks) ++last;
      }
    });
    CHECK(outcomes == Outcomes(kRanks));
    CHECK(last == 1);
  }
}

TEST_CASE("a counter is decimal text, and only a number can be added to") {
  with_stores(1, [](int, Store& store) {
    CHECK(store.add("n", -5) == -5);
    CHECK(store.get("n", kLong) == "-5");
  });
  check_message("refused the key 'word': its value is not a number, so nothing can be added to it",
                [](Store& store) {
                  store.set("word", "five");
                  store.add("word", 1);
                });
  check_message("refused the key 'big': the sum exceeds 64 bits", [](Store& store) {
    store.set("big", "9223372036854775807");
    store.add("big", 1);
  });
}

TEST_CASE("keys and values beyond their limits are refused") {
  check_message("has 257 bytes; at most 256 are allowed",
                [](Store& store) { store.set(std::string(257, 'k'), ""); });
  check_message("has 1048577 bytes; at most 1048576 are allowed",
                [](Store& store) { store.set("k", std::string((std::size_t{1} << 20) + 1, 'v')); });
}

TEST_CASE("a table has a limit of keys and of bytes, and a refusal changes nothing") {
  StoreTable table({.keys = 2, .bytes = 10});
  table.set("a", "123");
  table.set("b", "1");
  CHECK_THROWS_WITH_AS(table.set("c", ""),
                       "the ranks' store refused the key 'c': it holds 2 keys, and no more "
                       "are allowed",
                       Error);
  CHECK(table.find("c") == nullptr);
  table.set("b", "12345");  // 1 + 3 + 1 + 5
  CHECK_THROWS_WITH_AS(table.set("b", "123456"),
                       "the ranks' store refused the key 'b': it would hold 11 bytes; at "
                       "most 10 are allowed",
                       Error);
  CHECK(*table.find("b") == "12345");
  table.set("a", "");
  table.set("b", "12345678");
}
