// All-reduce through shared memory for ranks of one machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/clock.h"
#include "ranks/comm/communicator.h"

namespace trainyard {

struct SharedRanksOptions {
  std::string host;     // name of this machine, for messages
  std::string machine;  // own_machine()
  Milliseconds limit;   // limit of a call, including all waits for other ranks; positive
};

/// `others` with sums through shared memory, in the same order and bit-identical; all other calls
/// are forwarded to `others`. Returns `others` itself, on every rank, unless all ranks are on one
/// machine, of one user, and on a system that lets them share memory and watch each other's
/// processes (Linux 5.3, /proc). For host memory. Calling it is a collective of `others`. The ranks
/// wait for each other twice per 256 KiB, however many sums of one call these are (SumPieces).
/// Sums after the first allocate nothing; their errors are those of Communicator, and name a rank
/// whose process has ended or whose communicator is destroyed. For one thread at a time.
[[nodiscard]] std::unique_ptr<Communicator> share_sums(std::unique_ptr<Communicator> others,
                                                       const SharedRanksOptions& options);

/// Consecutive elements of a sum, in a piece.
struct SumChunk {
  std::byte* data = nullptr;
  std::int64_t count = 0;  // elements, at least 1
  DType type = DType::f32;
  std::size_t offset = 0;  // bytes from the start of the piece, a multiple of kAlignment
  std::int64_t whole = 0;  // elements of the whole sum
};

/// Fills pieces of at most `bytes` bytes with sums, in their order. Sums share a piece as far as
/// they fit; one that does not fit continues in the next piece. Sums of no elements are left out.
/// Ranks with the same sums get the same pieces. Allocates nothing.
class SumPieces {
 public:
  static constexpr std::size_t kAlignment = 64;  // alignment of chunks: a cache line
  static constexpr std::size_t kMostChunks = 8;  // chunks of a piece

  /// `bytes`: a positive multiple of kAlignment. The memory of `parts` must outlive it.
  SumPieces(std::span<const SumPart> parts, std::size_t bytes);

  /// The chunks of the next piece, valid until the next call; none after the last piece.
  [[nodiscard]] std::span<const SumChunk> next();

 private:
  std::span<const SumPart> parts_;  // not yet in a piece
  std::int64_t taken_ = 0;          // elements of the first of them that are in a piece
  std::size_t bytes_;
  std::array<SumChunk, kMostChunks> chunks_;  // chunks of the current piece
};

}  // namespace trainyard
