// Collectives: their results, and what waits forever.
#include <doctest/doctest.h>

#include <cstdint>

#include "base/half.h"
#include "meeting.h"
#include "played_ranks.h"

namespace standin::played {
namespace {

using trainyard::BFloat16;
using trainyard::Float16;

/// Numbers whose sums depend on their order.
template <class T>
T value_of(int rank, std::size_t i) {
  const auto mixed = static_cast<float>((i * 2654435761U + rank * 40503U) % 4093);
  return T((mixed - 2000) * (rank % 2 == 0 ? 1.0F : 0.01F));
}

template <class T>
std::vector<T> values_of(int rank, std::size_t count) {
  std::vector<T> list;
  for (std::size_t i = 0; i < count; ++i) list.push_back(value_of<T>(rank, i));
  return list;
}

/// Rank after rank round the ring, from the successor of the slice's rank, in the type itself.
template <class T>
T ring_sum(int ranks, std::size_t i, std::size_t count) {
  const std::size_t slice = i / ((count + ranks - 1) / ranks);
  T sum = value_of<T>(static_cast<int>((slice + 1) % ranks), i);
  for (int hop = 1; hop < ranks; ++hop) {
    sum = T(sum + value_of<T>(static_cast<int>((slice + 1 + hop) % ranks), i));
  }
  return sum;
}

template <class T>
void check_sum(ncclDataType_t type, int size, std::size_t count) {
  CAPTURE(size);
  CAPTURE(count);
  Ranks ranks(size);
  std::vector<std::vector<T>> data;
  for (int rank = 0; rank < size; ++rank) {
    data.push_back(values_of<T>(rank, count));
    on_gpu(data.back());
  }
  for (int rank = 0; rank < size; ++rank) {
    ncclAllReduce(data[rank].data(), data[rank].data(), count, type, ncclSum, ranks[rank],
                  ranks.stream(rank).handle());
    CHECK(settled(ranks[rank]) == ncclSuccess);
    CHECK(Machine::get().move_on() == (rank == size - 1));
  }
  std::vector<T> expected;
  for (std::size_t i = 0; i < count; ++i) expected.push_back(ring_sum<T>(size, i, count));
  for (const auto& found : data) CHECK(same_bits<T>(found, expected));
}

TEST_CASE("sums are those of a ring, on all ranks, once all have arrived") {
  for (const std::size_t count : {1, 5, 4097}) check_sum<float>(ncclFloat32, 4, count);
  check_sum<float>(ncclFloat32, 2, 7);
  check_sum<double>(ncclFloat64, 4, 1001);
  check_sum<Float16>(ncclFloat16, 3, 1001);
  check_sum<BFloat16>(ncclBfloat16, 4, 1001);
  check_sum<std::int32_t>(ncclInt32, 4, 1001);
}

TEST_CASE("sums larger than a rank's slot are done in pieces") {
  constexpr std::size_t kSlot = nccl::kSlotBytes / sizeof(float);
  for (const std::size_t count : {kSlot, 3 * kSlot + 5}) check_sum<float>(ncclFloat32, 3, count);
}

TEST_CASE("a ring of four ranks has different bits than a tree") {
  bool differs = false;
  for (std::size_t i = 0; i < 100; ++i) {
    const auto value = [&](int rank) { return value_of<float>(rank, i); };
    const float tree = (value(0) + value(1)) + (value(2) + value(3));
    differs = differs || tree != ring_sum<float>(4, i, 100);
  }
  CHECK(differs);
}

TEST_CASE("a broadcast sends the root's data to all, a gather all data to all") {
  Ranks ranks(3);
  const std::size_t count = nccl::kSlotBytes + 11;
  std::vector<std::vector<std::uint8_t>> data, gathered;
  for (int rank = 0; rank < 3; ++rank) {
    data.emplace_back(count, static_cast<std::uint8_t>(rank + 1));
    gathered.emplace_back(3 * count);
    on_gpu(data.back());
    on_gpu(gathered.back());
  }
  for (int rank = 0; rank < 3; ++rank) {
    const cudaStream_t stream = ranks.stream(rank).handle();
    ncclAllGather(data[rank].data(), gathered[rank].data(), count, ncclUint8, ranks[rank], stream);
    CHECK(settled(ranks[rank]) == ncclSuccess);
    ncclBroadcast(data[rank].data(), data[rank].data(), count, ncclUint8, 1, ranks[rank], stream);
    CHECK(settled(ranks[rank]) == ncclSuccess);
  }
  CHECK(Machine::get().move_on());
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(data[rank] == std::vector<std::uint8_t>(count, 2));
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(gathered[rank][i * count] == i + 1);
      CHECK(gathered[rank][(i + 1) * count - 1] == i + 1);
    }
  }
}

/// Whether both ranks' calls end, where `call` makes each rank's call. Then all is aborted.
template <class Make>
bool goes_on(const Make& call) {
  Ranks ranks(2);
  std::vector<float> data(64, 1.0F);
  on_gpu(data);
  for (int rank = 0; rank < 2; ++rank) {
    call(rank, ranks[rank], data.data(), ranks.stream(rank).handle());
    CHECK(settled(ranks[rank]) == ncclSuccess);
  }
  return Machine::get().move_on();
}

TEST_CASE("ranks that call different things wait forever, until they are aborted") {
  const auto sum = [](std::size_t count, ncclDataType_t type) {
    return [=](ncclComm_t group, float* data, cudaStream_t stream) {
      ncclAllReduce(data, data, count, type, ncclSum, group, stream);
    };
  };
  const auto broadcast = [](int root) {
    return [=](ncclComm_t group, float* data, cudaStream_t stream) {
      ncclBroadcast(data, data, 8, ncclFloat32, root, group, stream);
    };
  };
  const auto both = [](const auto& first, const auto& second) {
    return goes_on([&](int rank, ncclComm_t group, float* data, cudaStream_t stream) {
      rank == 0 ? first(group, data, stream) : second(group, data, stream);
    });
  };
  CHECK(both(sum(8, ncclFloat32), sum(8, ncclFloat32)));
  CHECK(both(broadcast(1), broadcast(1)));
  CHECK_FALSE(both(sum(8, ncclFloat32), sum(9, ncclFloat32)));
  CHECK_FALSE(both(sum(8, ncclFloat32), sum(8, ncclInt32)));
  CHECK_FALSE(both(sum(8, ncclFloat32), broadcast(0)));
  CHECK_FALSE(both(broadcast(0), broadcast(1)));
}

TEST_CASE("two calls in a different order on one rank hang") {
  Ranks ranks(2);
  std::vector<float> a(3, 1.0F), b(5, 1.0F);
  on_gpu(a);
  on_gpu(b);
  ranks.sum(0, a);
  ranks.sum(0, b);
  ranks.sum(1, b);
  ranks.sum(1, a);
  CHECK_FALSE(Machine::get().move_on());
  CHECK(a == std::vector<float>(3, 1.0F));
}

TEST_CASE("work is done in the order of launches, whatever the streams") {
  Ranks ranks(2);
  Machine& machine = Machine::get();
  Stream& side = machine.make_stream(0);
  std::vector<float> a[2] = {std::vector<float>(3, 1.0F), std::vector<float>(3, 2.0F)};
  std::vector<float> b[2] = {std::vector<float>(5, 4.0F), std::vector<float>(5, 8.0F)};
  for (const auto& data : {a, b}) {
    on_gpu(data[0]);
    on_gpu(data[1]);
  }
  bool held = true;
  REQUIRE(enqueue(
              ranks.stream(0).handle(), "hold", [&] { return !held; }, [] {}) == cudaSuccess);
  ranks.sum(0, a[0]);
  ranks.sum(0, b[0], &side);  // its stream is free, but it was launched second
  ranks.sum(1, a[1]);
  ranks.sum(1, b[1]);
  CHECK_FALSE(machine.move_on());
  CHECK(b[1] == std::vector<float>(5, 8.0F));
  held = false;
  CHECK(machine.move_on());
  CHECK(a[0] == std::vector<float>(3, 3.0F));
  CHECK(b[1] == std::vector<float>(5, 12.0F));
}

TEST_CASE("a sum of nothing, or of one rank in place, launches no work") {
  Ranks pair(2);
  std::vector<float> data(4, 1.5F);
  CHECK(ncclAllReduce(nullptr, nullptr, 0, ncclFloat32, ncclSum, pair[0],
                      pair.stream(0).handle()) == ncclSuccess);
  CHECK(Machine::get().move_on());
  const Ranks alone(1);
  CHECK(alone.sum(0, data) == ncclSuccess);
  CHECK(Machine::get().move_on());
}

TEST_CASE("aborting frees the streams that wait, and touches no memory") {
  Ranks ranks(2);
  std::vector<float> data(4, 1.5F);
  on_gpu(data);
  CHECK(ranks.sum(0, data) == ncclSuccess);
  CHECK_FALSE(Machine::get().move_on());
  ranks.abort(0);
  CHECK(Machine::get().move_on());
  CHECK(data == std::vector<float>(4, 1.5F));
}

TEST_CASE("memory outside any GPU breaks the GPU, and leaving is not blocked") {
  Ranks ranks(2);
  std::vector<float> data(4, 1.5F);
  CHECK(ranks.sum(0, data) == ncclSuccess);
  static_cast<void>(Machine::get().move_on());
  CHECK(Machine::get().broken[0] == cudaErrorIllegalAddress);
  CHECK(ncclCommAbort(ranks[0]) == ncclSuccess);
  ranks.gone(0);
}

}  // namespace
}  // namespace standin::played
