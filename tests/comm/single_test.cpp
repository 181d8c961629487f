#include <doctest/doctest.h>

#include <array>

#include "base/error.h"
#include "comm/communicator.h"

using namespace trainyard;

TEST_CASE("a group of one is rank 0 of 1") {
  const auto group = make_single_communicator();
  CHECK(group->rank() == 0);
  CHECK(group->size() == 1);
}

TEST_CASE("a sum over one rank is what the rank gave") {
  const auto group = make_single_communicator();
  std::array<float, 3> values{1.5F, -2.0F, 0.25F};
  group->all_reduce_sum(values.data(), 3, DType::f32);
  CHECK(values == std::array<float, 3>{1.5F, -2.0F, 0.25F});
}

TEST_CASE("a gather over one rank copies its bytes and refuses slots of another size") {
  const auto group = make_single_communicator();
  const std::array<std::byte, 2> mine{std::byte{7}, std::byte{9}};
  std::array<std::byte, 2> all{};
  group->all_gather(mine, all);
  CHECK(all == mine);
  std::array<std::byte, 3> wrong{};
  CHECK_THROWS_AS(group->all_gather(mine, wrong), Error);
}

TEST_CASE("a broadcast from a rank that is not there is refused") {
  const auto group = make_single_communicator();
  std::array<std::byte, 1> bytes{std::byte{5}};
  group->broadcast(bytes, 0);
  CHECK(bytes[0] == std::byte{5});
  CHECK_THROWS_AS(group->broadcast(bytes, 1), Error);
}
