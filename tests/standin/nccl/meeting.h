// How the ranks of a group find each other: memory shared by their processes. The group's id names
// its owner, so that nothing is left of it when the last process has ended, in whatever way.
#pragma once

#include <nccl.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace standin::nccl {

inline constexpr int kMostRanks = 32;
/// Bytes of its data that a rank publishes at a time, and of a message to one rank.
inline constexpr std::size_t kSlotBytes = std::size_t{1} << 20;
inline constexpr std::size_t kLetterBytes = std::size_t{1} << 16;

enum class Kind : std::uint32_t { all_reduce = 1, broadcast, all_gather };

/// A collective as all ranks must call it; ranks that call different ones wait forever.
struct Call {
  Kind kind = Kind::all_reduce;
  std::uint32_t captured = 0;  // all ranks capture a call, or none does (NCCL's guide, CUDA graphs)
  std::int32_t type = 0;
  std::int32_t root = 0;
  std::uint64_t count = 0;

  bool operator==(const Call&) const = default;
};

// Everything below is in shared memory, where untouched bytes are zero.

/// Messages from one rank to another, a letter at a time.
struct Mailbox {
  std::atomic<std::uint64_t> posted, taken;  // letters
  std::uint64_t bytes;                       // size of the whole message
  std::uint64_t captured;
  std::byte letter[kLetterBytes];
};

/// What one rank publishes. Pieces are counted over all collectives; piece p is in slot p % 2,
/// which no rank reads any more: a rank that publishes p has read piece p - 1 of all ranks, which
/// had therefore read p - 2.
struct RankSlot {
  std::atomic<std::uint32_t> taken;       // a rank uses this slot
  std::atomic<std::uint32_t> introduced;  // host and bus are known
  std::atomic<std::uint32_t> content;     // satisfied with all others
  std::uint64_t host, bus;
  std::atomic<std::uint64_t> posted;  // pieces
  Call calls[2];
  std::byte slots[2][kSlotBytes];
  Mailbox to[kMostRanks];
};

struct Table {
  std::atomic<std::uint64_t> mark;  // marks a valid table
  std::atomic<std::int32_t> ranks;
  RankSlot rank_slots[kMostRanks];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// A group's table, open in this process.
class Meeting {
 public:
  /// A new table, which stays open as long as this process lives.
  [[nodiscard]] static ncclUniqueId arrange();
  /// Throws Failure{ncclSystemError} if the id's process has ended, or never made a table.
  explicit Meeting(const ncclUniqueId& id);
  ~Meeting();
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  [[nodiscard]] Table& table() { return *table_; }
  [[nodiscard]] RankSlot& slot(int rank) { return table_->rank_slots[rank]; }

 private:
  Table* table_ = nullptr;
};

/// The host that NCCL takes this process to be on: NCCL_HOSTID, or its name and the boot id.
[[nodiscard]] std::uint64_t host_hash();
/// The GPU `device` of this process, as in NCCL's messages: 1000 is "0000:01:00.0".
[[nodiscard]] std::uint64_t bus_of_device(int device);

}  // namespace standin::nccl
