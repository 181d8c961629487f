// Where the ranks of a group meet: memory that their processes share. The group's id says whose it
// is, so that nothing is left of it when the last process has ended, however it did.
#pragma once

#include <nccl.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace standin::nccl {

inline constexpr int kMostRanks = 32;
/// What a rank shows the others at a time of its numbers, and of a message to one of them.
inline constexpr std::size_t kSlotBytes = std::size_t{1} << 20;
inline constexpr std::size_t kLetterBytes = std::size_t{1} << 16;

enum class Kind : std::uint32_t { all_reduce = 1, broadcast, all_gather };

/// A collective as all ranks must call it; ranks that call different ones wait for ever.
struct Call {
  Kind kind = Kind::all_reduce;
  std::uint32_t captured = 0;  // all ranks capture a call, or none does (NCCL's guide, CUDA graphs)
  std::int32_t type = 0;
  std::int32_t root = 0;
  std::uint64_t count = 0;

  bool operator==(const Call&) const = default;
};

// Everything below lies in shared memory, whose zeros are what nobody has touched.

/// Messages from one rank to another, a letter at a time.
struct Mailbox {
  std::atomic<std::uint64_t> posted, taken;  // letters
  std::uint64_t bytes;                       // of the whole message
  std::uint64_t captured;
  std::byte letter[kLetterBytes];
};

/// What one rank shows. Pieces of collectives are counted over all of them; piece p stands in slot
/// p % 2, where nobody reads any more: who shows p has read p - 1 of all, who all had read p - 2.
struct BarrierSlot {
  std::atomic<std::uint32_t> taken;       // somebody sits there
  std::atomic<std::uint32_t> introduced;  // host and bus are known
  std::atomic<std::uint32_t> content;     // with all others
  std::uint64_t host, bus;
  std::atomic<std::uint64_t> posted;  // pieces
  Call calls[2];
  std::byte slots[2][kSlotBytes];
  Mailbox to[kMostRanks];
};

struct Table {
  std::atomic<std::uint64_t> mark;  // that it is one
  std::atomic<std::int32_t> ranks;
  BarrierSlot seats[kMostRanks];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// A group's table, open in this process.
class Meeting {
 public:
  /// A new table, which stays open as long as this process lives.
  [[nodiscard]] static ncclUniqueId arrange();
  /// Throws Failure{ncclSystemError} where the id's process has ended, or never made one.
  explicit Meeting(const ncclUniqueId& id);
  ~Meeting();
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  [[nodiscard]] Table& table() { return *table_; }
  [[nodiscard]] BarrierSlot& seat(int rank) { return table_->seats[rank]; }

 private:
  Table* table_ = nullptr;
};

/// Which host NCCL takes this process to be on: NCCL_HOSTID, or its name and the boot's id.
[[nodiscard]] std::uint64_t host_hash();
/// The GPU `device` of this process, as NCCL's messages show it: 1000 is "0000:01:00.0".
[[nodiscard]] std::uint64_t bus_of_device(int device);

}  // namespace standin::nccl
