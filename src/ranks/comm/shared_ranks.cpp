#include "ranks/comm/shared_ranks.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "base/error.h"
#include "ranks/comm/shared_memory.h"
#include "ranks/comm/tree_sum.h"
#include "ranks/rendezvous/failure.h"

namespace trainyard {
namespace {

// Bytes that a rank exchanges at a time: they fit in the cores' caches.
constexpr std::size_t kPieceBytes = 256 * 1024;

/// What a rank sums in a piece, for the others to compare: a number for each sum, and 0 after them.
using PieceCalls = std::array<std::uint64_t, SumPieces::kMostChunks>;
// A rank's slot: the calls of its piece, then the piece.
constexpr std::size_t kSlot = sizeof(PieceCalls) + kPieceBytes;
static_assert(sizeof(PieceCalls) % SumPieces::kAlignment == 0);

std::size_t size_for(std::size_t ranks) {
  return sizeof(BarrierGate) + ranks * (sizeof(BarrierSlot) + 2 * kSlot);
}

PieceCalls calls_of(std::span<const SumChunk> chunks) {
  PieceCalls calls{};
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    calls[i] = static_cast<std::uint64_t>(chunks[i].whole) << 8 |
               static_cast<std::uint64_t>(chunks[i].type);
  }
  return calls;
}

/// "all_reduce_sum of 1000 f32 elements and 3 f64 elements".
std::string text_of(const PieceCalls& calls) {
  std::string text;
  for (const std::uint64_t call : calls) {
    if (call == 0) break;
    const CollectiveCall sum =
        sum_call(static_cast<std::int64_t>(call >> 8), static_cast<DType>(call & 0xff));
    text += text.empty() ? text_of(sum) : " and " + amount_of(sum);
  }
  return text;
}

/// What ranks know of each other before they share memory: process and host, per rank.
struct Neighbours {
  std::vector<pid_t> processes;
  std::vector<std::string> hosts;
};

class SharedRanks final : public ForwardingCommunicator {
 public:
  /// Throws Error{device} if this rank cannot open the memory or watch the other processes.
  SharedRanks(int rank, const SharedMemoryName& memory, const Neighbours& neighbours,
              Milliseconds limit);

  /// From now on forwards other calls to `others`.
  void take(std::unique_ptr<Communicator> others) {
    others_ = std::move(others);
    forward_to(*others_);
  }
  [[nodiscard]] bool sums_in_tree() const override { return true; }
  void all_reduce_sums(Queue& queue, std::span<const SumPart> parts) override {
    SumPieces pieces(parts, kPieceBytes);
    queue.wait();
    deadline_ = std::chrono::steady_clock::now() + limit_;
    for (auto chunks = pieces.next(); !chunks.empty(); chunks = pieces.next()) sum_piece(chunks);
  }

 private:
  void sum_piece(std::span<const SumChunk> chunks) {
    calls_ = calls_of(chunks);
    if (left_) fail("an earlier call failed, and this rank left the group");
    ++pieces_;
    give(chunks);
    meet();
    check_calls();
    for (const SumChunk& chunk : chunks) sum_slice(chunk);
    meet();
    for (const SumChunk& chunk : chunks) take_sum(chunk);
  }
  /// Writes this rank's values into its slot.
  void give(std::span<const SumChunk> chunks) {
    std::memcpy(slot_of(rank_), calls_.data(), sizeof calls_);
    for (const SumChunk& chunk : chunks) {
      std::memcpy(piece_of(rank_) + chunk.offset, chunk.data,
                  static_cast<std::size_t>(chunk.count) * size_of(chunk.type));
    }
  }
  /// Sums this rank's slice of all ranks' values in its slot.
  void sum_slice(const SumChunk& chunk) {
    const Slice mine = slice_of(chunk.count, chunk.type, rank_, size());
    const std::size_t begin = chunk.offset + mine.begin;
    for (int other = 0; other < size(); ++other) {
      inputs_[static_cast<std::size_t>(other)] = piece_of(other) + begin;
    }
    sum_.run(inputs_, piece_of(rank_) + begin,
             static_cast<std::int64_t>(mine.bytes / size_of(chunk.type)), chunk.type);
  }
  /// Copies the sums of all slices from the ranks' slots.
  void take_sum(const SumChunk& chunk) {
    for (int other = 0; other < size(); ++other) {
      const Slice theirs = slice_of(chunk.count, chunk.type, other, size());
      std::memcpy(chunk.data + theirs.begin, piece_of(other) + chunk.offset + theirs.begin,
                  theirs.bytes);
    }
  }
  /// Waits until all ranks have reached this point of the piece.
  void meet() {
    barrier_.arrive();
    const auto absent = barrier_.await_all(deadline_);
    if (!absent) return;
    const std::string name = name_of(absent->rank);
    switch (absent->why) {
      case SharedBarrier::Absence::left:
        fail(gone_text(name, "it left the group"));
      case SharedBarrier::Absence::ended:
        fail(gone_text(name, "its process has ended"));
      case SharedBarrier::Absence::late:
        fail(late_text(name, limit_, "in shared memory"));
    }
  }
  /// Throws unless all ranks are in the same piece of the same sums.
  void check_calls() {
    for (int other = 0; other < size(); ++other) {
      PieceCalls theirs;
      std::memcpy(theirs.data(), slot_of(other), sizeof theirs);
      if (theirs != calls_) fail(name_of(other) + " is in a different call, " + text_of(theirs));
    }
  }
  [[noreturn]] void fail(const std::string& reason) {
    left_ = true;
    barrier_.leave();  // the others need not wait for their limits
    throw failed_call(text_of(calls_), name_of(rank_), size(), reason);
  }
  [[nodiscard]] std::string name_of(int rank) const {
    return name_of_rank(rank, hosts_[static_cast<std::size_t>(rank)]);
  }
  /// A rank's slot of the current piece. Two slots alternate: once all have reached a piece, all
  /// are done with the previous one, but not with this one.
  [[nodiscard]] std::byte* slot_of(int rank) const {
    return slots_ + (pieces_ % 2 * hosts_.size() + static_cast<std::size_t>(rank)) * kSlot;
  }
  [[nodiscard]] std::byte* piece_of(int rank) const { return slot_of(rank) + sizeof(PieceCalls); }

  int rank_;
  std::vector<std::string> hosts_;  // per rank
  Milliseconds limit_;
  std::unique_ptr<Communicator> others_;
  SharedMemory memory_;  // BarrierGate, [rank] BarrierSlot, [2][rank] slot
  SharedBarrier barrier_;
  std::byte* slots_;
  TreeSum sum_;
  std::vector<const void*> inputs_;  // per rank
  bool left_ = false;
  PieceCalls calls_{};  // calls for this rank's current piece
  Moment deadline_;
  std::size_t pieces_ = 0;
};

SharedRanks::SharedRanks(int rank, const SharedMemoryName& memory, const Neighbours& neighbours,
                         Milliseconds limit)
    : rank_(rank),
      hosts_(neighbours.hosts),
      limit_(limit),
      memory_(memory, size_for(hosts_.size())),
      barrier_(
          *reinterpret_cast<BarrierGate*>(memory_.data()),
          {reinterpret_cast<BarrierSlot*>(memory_.data() + sizeof(BarrierGate)), hosts_.size()},
          rank, neighbours.processes),
      slots_(memory_.data() + sizeof(BarrierGate) + hosts_.size() * sizeof(BarrierSlot)),
      inputs_(hosts_.size()) {
  // Touch the pages now, and not during a step.
  for (pieces_ = 0; pieces_ < 2; ++pieces_) std::memset(slot_of(rank), 0, kSlot);
}

bool on_one_machine(Communicator& ranks, Queue& queue, const std::string& machine) {
  const std::vector<std::string> machines = gather_texts(ranks, queue, machine);
  return !machines[0].empty() && std::ranges::count(machines, machines[0]) == ranks.size();
}

/// Null if the system provides no such memory.
std::unique_ptr<SharedMemory> make_memory(int ranks) {
  try {
    auto memory = std::make_unique<SharedMemory>(size_for(static_cast<std::size_t>(ranks)));
    new (memory->data()) BarrierGate;
    return memory;
  } catch (const Error&) {
    return nullptr;
  }
}

/// Null if this rank cannot take part.
std::unique_ptr<SharedRanks> join(int rank, const SharedMemoryName& memory,
                                  const Neighbours& neighbours, Milliseconds limit) {
  try {
    return std::make_unique<SharedRanks>(rank, memory, neighbours, limit);
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace

SumPieces::SumPieces(std::span<const SumPart> parts, std::size_t bytes)
    : parts_(parts), bytes_(bytes) {
  TY_CHECK(bytes > 0 && bytes % kAlignment == 0, "a piece is of whole cache lines");
  for (const SumPart& part : parts) {
    TY_CHECK(part.count >= 0 && part.type != DType::u8, "a sum is of numbers");
  }
}

std::span<const SumChunk> SumPieces::next() {
  std::size_t chunks = 0, used = 0;
  while (!parts_.empty()) {
    const SumPart& part = parts_.front();
    if (taken_ == part.count) {
      parts_ = parts_.subspan(1);
      taken_ = 0;
      continue;
    }
    const std::size_t size = size_of(part.type);
    const auto space = static_cast<std::int64_t>((bytes_ - used) / size);
    if (space == 0 || chunks == kMostChunks) break;
    const std::int64_t count = std::min(part.count - taken_, space);
    chunks_[chunks++] = {
        .data = static_cast<std::byte*>(part.data) + static_cast<std::size_t>(taken_) * size,
        .count = count,
        .type = part.type,
        .offset = used,
        .whole = part.count};
    used += static_cast<std::size_t>(count) * size;
    used = (used + kAlignment - 1) / kAlignment * kAlignment;
    taken_ += count;
  }
  return std::span(chunks_).first(chunks);
}

std::unique_ptr<Communicator> share_sums(std::unique_ptr<Communicator> others,
                                         const SharedRanksOptions& options) {
  TY_CHECK(options.limit.count() > 0, "a time limit is positive");
  if (others->size() == 1) return others;
  const auto queue = make_cpu_device()->make_queue();
  if (!on_one_machine(*others, *queue, options.machine)) return others;
  const Neighbours neighbours{.processes = gather_values(*others, *queue, ::getpid()),
                              .hosts = gather_texts(*others, *queue, options.host)};
  const auto memory = others->rank() == 0 ? make_memory(others->size()) : nullptr;
  SharedMemoryName name = memory != nullptr ? memory->name() : SharedMemoryName{};
  others->broadcast(*queue, &name, sizeof name, 0);
  auto shared = join(others->rank(), name, neighbours, options.limit);
  // All ranks use it or none; and the first rank's memory remains until all have opened it.
  if (largest(*others, *queue, shared == nullptr ? 1 : 0) > 0) return others;
  shared->take(std::move(others));
  return shared;
}

}  // namespace trainyard
