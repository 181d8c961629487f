#include "comm/shared_ranks.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "comm/collective_call.h"
#include "comm/control.h"
#include "comm/forwarding_communicator.h"
#include "comm/rendezvous/failure.h"
#include "comm/shared_barrier.h"
#include "comm/shared_memory.h"
#include "comm/slice.h"
#include "comm/tree_sum.h"

namespace trainyard {
namespace {

// Bytes of a rank's slot. Larger sums are split into pieces, which fit in the cores' caches.
constexpr std::size_t kSlot = 256 * 1024;

std::size_t size_for(std::size_t ranks) { return ranks * (sizeof(BarrierSlot) + 2 * kSlot); }

/// A call as a number that others can compare.
std::uint64_t number_of(std::int64_t count, DType type) {
  return static_cast<std::uint64_t>(count) << 8 | static_cast<std::uint64_t>(type);
}
CollectiveCall call_of(std::uint64_t number) {
  return sum_call(static_cast<std::int64_t>(number >> 8), static_cast<DType>(number & 0xff));
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
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return static_cast<int>(hosts_.size()); }
  [[nodiscard]] bool sums_in_tree() const override { return true; }
  void all_reduce_sum(Queue& queue, void* data, std::int64_t count, DType type) override;
  void all_reduce_sums(Queue& queue, std::span<const SumPart> parts) override {
    Communicator::all_reduce_sums(queue, parts);
  }

 private:
  void sum_piece(std::byte* data, std::int64_t count, DType type);
  /// Waits until all ranks have reached this point of the call.
  void meet();
  /// Throws unless rank `other` makes the same call.
  void check_call(int other);
  [[noreturn]] void fail(const std::string& reason);
  [[nodiscard]] std::string name_of(int rank) const {
    return name_of_rank(rank, hosts_[static_cast<std::size_t>(rank)]);
  }
  /// A rank's slot of the current piece. Two slots alternate: once all have reached a piece, all
  /// are done with the previous one, but not with this one.
  [[nodiscard]] std::byte* slot_of(int rank) const {
    return slots_ + (pieces_ % 2 * hosts_.size() + static_cast<std::size_t>(rank)) * kSlot;
  }

  int rank_;
  std::vector<std::string> hosts_;  // per rank
  Milliseconds limit_;
  std::unique_ptr<Communicator> others_;
  SharedMemory memory_;  // [rank] BarrierSlot, [2][rank] slot
  SharedBarrier arrivals_;
  std::byte* slots_;
  TreeSum sum_;
  std::vector<const void*> inputs_;  // per rank
  bool left_ = false;
  std::uint64_t call_ = 0;
  Moment deadline_;
  std::size_t pieces_ = 0;
};

SharedRanks::SharedRanks(int rank, const SharedMemoryName& memory, const Neighbours& neighbours,
                         Milliseconds limit)
    : rank_(rank),
      hosts_(neighbours.hosts),
      limit_(limit),
      memory_(memory, size_for(hosts_.size())),
      arrivals_({reinterpret_cast<BarrierSlot*>(memory_.data()), hosts_.size()}, rank,
                neighbours.processes),
      slots_(memory_.data() + hosts_.size() * sizeof(BarrierSlot)),
      inputs_(hosts_.size()) {
  // Touch the pages now, and not during a step.
  for (pieces_ = 0; pieces_ < 2; ++pieces_) std::memset(slot_of(rank), 0, kSlot);
}

void SharedRanks::all_reduce_sum(Queue& queue, void* data, std::int64_t count, DType type) {
  TY_CHECK(count >= 0 && type != DType::u8, "a sum is of numbers");
  call_ = number_of(count, type);
  queue.wait();
  if (left_) fail("an earlier call failed, and this rank left the group");
  deadline_ = std::chrono::steady_clock::now() + limit_;
  const auto most = static_cast<std::int64_t>(kSlot / size_of(type));
  auto* piece = static_cast<std::byte*>(data);
  for (std::int64_t begin = 0; begin < count; begin += most, piece += kSlot) {
    sum_piece(piece, std::min(most, count - begin), type);
  }
}

void SharedRanks::sum_piece(std::byte* data, std::int64_t count, DType type) {
  ++pieces_;
  std::memcpy(slot_of(rank_), data, static_cast<std::size_t>(count) * size_of(type));
  meet();
  const Slice mine = slice_of(count, type, rank_, size());
  for (int other = 0; other < size(); ++other) {
    check_call(other);
    inputs_[static_cast<std::size_t>(other)] = slot_of(other) + mine.begin;
  }
  sum_.run(inputs_, slot_of(rank_) + mine.begin,
           static_cast<std::int64_t>(mine.bytes / size_of(type)), type);
  meet();
  for (int other = 0; other < size(); ++other) {
    const Slice theirs = slice_of(count, type, other, size());
    std::memcpy(data + theirs.begin, slot_of(other) + theirs.begin, theirs.bytes);
  }
}

void SharedRanks::meet() {
  arrivals_.arrive(call_);
  const auto absent = arrivals_.await_all(deadline_);
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

void SharedRanks::check_call(int other) {
  const std::uint64_t theirs = arrivals_.doing(other);
  if (theirs == call_) return;
  fail(name_of(other) + " is in a different call, " + text_of(call_of(theirs)));
}

void SharedRanks::fail(const std::string& reason) {
  left_ = true;
  arrivals_.leave();  // the others need not wait for their limits
  throw failed_call(call_of(call_), name_of(rank_), size(), reason);
}

bool on_one_machine(Communicator& ranks, Queue& queue, const std::string& machine) {
  const std::vector<std::string> machines = gather_texts(ranks, queue, machine);
  return !machines[0].empty() && std::ranges::count(machines, machines[0]) == ranks.size();
}

/// Null if the system provides no such memory.
std::unique_ptr<SharedMemory> make_memory(int ranks) {
  try {
    return std::make_unique<SharedMemory>(size_for(static_cast<std::size_t>(ranks)));
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
