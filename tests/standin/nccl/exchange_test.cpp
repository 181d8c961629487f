// Sends and receives.
#include <doctest/doctest.h>

#include <cstdint>

#include "meeting.h"
#include "played_ranks.h"

namespace standin::played {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// A slice of `bytes` to and from each rank.
void exchange(const Ranks& ranks, int rank, const Bytes& mine, Bytes& out, std::size_t bytes) {
  const cudaStream_t stream = ranks.stream(rank).handle();
  CHECK(ncclGroupStart() == ncclSuccess);
  for (int peer = 0; peer < ranks.size(); ++peer) {
    CHECK(ncclSend(mine.data() + peer * bytes, bytes, ncclUint8, peer, ranks[rank], stream) ==
          ncclSuccess);
    CHECK(ncclRecv(out.data() + peer * bytes, bytes, ncclUint8, peer, ranks[rank], stream) ==
          ncclSuccess);
  }
  CHECK(ncclGroupEnd() == ncclInProgress);
  CHECK(settled(ranks[rank]) == ncclSuccess);
}

TEST_CASE("an exchange gives every rank its slice from all others") {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, nccl::kLetterBytes, 2 * nccl::kLetterBytes + 3}) {
    CAPTURE(bytes);
    const Ranks ranks(3);
    std::vector<Bytes> mine, out;
    for (int rank = 0; rank < 3; ++rank) {
      out.emplace_back(3 * bytes);
      mine.emplace_back();
      for (std::size_t i = 0; i < 3 * bytes; ++i) {
        mine.back().push_back(static_cast<std::uint8_t>(i * 7 + i / 251 + rank * 50));
      }
      on_gpu(mine.back());
      on_gpu(out.back());
    }
    for (int run = 0; run < 2; ++run) {
      for (int rank = 0; rank < 3; ++rank) exchange(ranks, rank, mine[rank], out[rank], bytes);
      CHECK(Machine::get().move_on());
    }
    for (std::size_t rank = 0; rank < 3; ++rank) {
      for (std::size_t peer = 0; peer < 3; ++peer) {
        const auto slice = [&](const Bytes& all, std::size_t index) {
          return std::span<const std::uint8_t>(all).subspan(index * bytes, bytes);
        };
        CHECK(same_bits(slice(out[rank], peer), slice(mine[peer], rank)));
      }
    }
  }
}

/// Rank 0 sends `sent` bytes to rank 1, which receives `received`; the third does nothing.
bool delivers(std::size_t sent, std::size_t received) {
  const Ranks ranks(3);
  Bytes from(sent, 1), to(received);
  on_gpu(from);
  on_gpu(to);
  ncclSend(from.data(), sent, ncclUint8, 1, ranks[0], ranks.stream(0).handle());
  CHECK(settled(ranks[0]) == ncclSuccess);
  CHECK_FALSE(Machine::get().move_on());
  ncclRecv(to.data(), received, ncclUint8, 0, ranks[1], ranks.stream(1).handle());
  CHECK(settled(ranks[1]) == ncclSuccess);
  return Machine::get().move_on();
}

TEST_CASE("a message arrives if both ends have its size, and does not affect other ranks") {
  CHECK(delivers(100, 100));
  CHECK_FALSE(delivers(100, 99));
  CHECK_FALSE(delivers(0, 5));
}

TEST_CASE("a message with one recorded end does not arrive") {
  const Ranks ranks(2);
  Bytes from(5, 1), to(5);
  on_gpu(from);
  on_gpu(to);
  Machine::get().begin_capture(ranks.stream(0));
  ncclSend(from.data(), 5, ncclUint8, 1, ranks[0], ranks.stream(0).handle());
  CHECK(settled(ranks[0]) == ncclSuccess);
  const auto graph = Machine::get().end_capture(ranks.stream(0));
  Machine::get().launch(*graph, ranks.stream(0));
  ncclRecv(to.data(), 5, ncclUint8, 0, ranks[1], ranks.stream(1).handle());
  CHECK(settled(ranks[1]) == ncclSuccess);
  CHECK_FALSE(Machine::get().move_on());
  for (Stream& stream : Machine::get().streams) stream.works.clear();
}

TEST_CASE("messages between the same ranks arrive in order") {
  const Ranks ranks(2);
  Bytes from = {1, 2}, to = {0, 0};
  on_gpu(from);
  on_gpu(to);
  for (int rank = 0; rank < 2; ++rank) {
    ncclGroupStart();
    for (std::size_t i = 0; i < 2; ++i) {
      const cudaStream_t stream = ranks.stream(rank).handle();
      rank == 0 ? ncclSend(from.data() + i, 1, ncclUint8, 1, ranks[0], stream)
                : ncclRecv(to.data() + i, 1, ncclUint8, 0, ranks[1], stream);
    }
    CHECK(ncclGroupEnd() == ncclInProgress);
    CHECK(settled(ranks[rank]) == ncclSuccess);
  }
  CHECK(Machine::get().move_on());
  CHECK(to == from);
}

}  // namespace
}  // namespace standin::played
