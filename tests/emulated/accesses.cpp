#include "accesses.h"

#include <link.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

// The linker's: where the program's code and static variables begin and end.
extern "C" char __executable_start, _end;

namespace trainyard::emulated {

constinit thread_local Accesses* watching = nullptr;
Accesses accesses;

namespace {

std::uintptr_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

std::string hex(std::uintptr_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%zx", number);
  return text;
}

std::string name_of(std::uint64_t thread, std::uint64_t block) {
  return "thread " + std::to_string(thread - 1) + " of block " + std::to_string(block);
}

/// What stands for a fence at the time of an access; 0 is none.
unsigned fence_in(const Trace& access) { return static_cast<unsigned>(access.phase) + 1; }

/// The thread-local variables of the program, in this thread.
Range thread_locals() {
  Range found;
  dl_iterate_phdr(
      [](dl_phdr_info* program, std::size_t /*bytes*/, void* range) {
        for (int i = 0; i < program->dlpi_phnum; ++i) {
          if (program->dlpi_phdr[i].p_type != PT_TLS) continue;
          *static_cast<Range*>(range) = {number_of(program->dlpi_tls_data),
                                         program->dlpi_phdr[i].p_memsz};
        }
        return 1;  // the program is the first, its libraries follow
      },
      &found);
  return found;
}

/// Whether all bytes of an access are as begin_block() leaves them: hooks do not see every write.
bool is_poison(Range place) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(place.begin);
  return std::all_of(bytes, bytes + place.bytes, [](unsigned char byte) { return byte == 0xff; });
}

}  // namespace

Accesses::Accesses()
    : program_{number_of(&__executable_start), number_of(&_end) - number_of(&__executable_start)} {}

void Accesses::begin_launch(std::string launch, unsigned threads, bool checked, bool waits) {
  shared_ = thread_locals();
  launch_ = std::move(launch);
  finding_.clear();
  checked_ = checked;
  waits_ = waits;
  constexpr std::size_t kHostStack = std::size_t{8} << 20;
  parameters_ = {number_of(__builtin_frame_address(0)), kHostStack};
  global_cells_.clear();
  arrivals_.clear();
  fences_.assign(threads, 0);
  unfenced_.assign(threads, 0);
}

void Accesses::begin_block(unsigned block) {
  shared_cells_.each_used(
      [](Range place) { std::memset(reinterpret_cast<void*>(place.begin), 0xff, place.bytes); });
  shared_cells_.clear();
  own_ = {.block = block};
  waited_.assign(unfenced_.size(), 0);
  std::ranges::fill(fences_, 0u);
  std::ranges::fill(unfenced_, 0);
  unfenced_then_ = unfenced_.size();
}

void Accesses::enter(unsigned thread, Range stack) {
  own_.thread = thread + 1;
  stack_ = stack;
  watching = checked_ ? this : nullptr;
}

void Accesses::leave() { watching = nullptr; }

void Accesses::pass_barrier() {
  ++own_.phase;
  unfenced_then_ = static_cast<std::size_t>(std::ranges::find(unfenced_, 1) - unfenced_.begin());
}

void Accesses::check(Range place, Access how, const void* instruction) {
  watching = nullptr;  // what is called here may be compiled with hooks
  instruction_ = instruction;
  const bool shared = shared_.contains(place.begin);
  if (!shared && how == Access::write) unfenced_[own_thread()] = 1;
  if (!shared && waits_ && waited_[own_thread()] == 0 && !parameters_.contains(place.begin)) {
    report(does(" accesses ", place.begin) + " before it waits for the launches before its own");
  }
  const bool poisoned = shared && how == Access::read && is_poison(place);
  (shared ? shared_cells_ : global_cells_).each(place, [&](Cell& cell, Range bytes) {
    if (how == Access::read) return check_read(cell, bytes.begin, poisoned);
    check_write(cell, how, bytes.begin);
  });
  watching = this;
}

void Accesses::check_read(Cell& cell, std::uintptr_t address, bool poisoned) {
  if (races(cell.writer)) {
    report_race(does(" reads ", address), cell.writer, "written");
  } else if (!cell.writer && poisoned) {
    report(does(" reads ", address) + ", which its block has not written");
  }
  cell.add_reader(own_);
}

void Accesses::check_write(Cell& cell, Access how, std::uintptr_t address) {
  const bool both_atomic = how == Access::atomic && cell.writer.atomic != 0;
  if (!both_atomic && races(cell.writer)) {
    report_race(does(" writes ", address), cell.writer, "written");
  }
  for (const Trace& reader : {cell.reader, cell.other_reader}) {
    if (races(reader)) report_race(does(" writes ", address), reader, "read");
  }
  cell.writer = own_;
  cell.writer.atomic = how == Access::atomic;
}

bool Accesses::races(const Trace& before) const {
  if (!before) return false;
  if (before.block != own_.block) return !is_counted(before);
  if (before.phase != own_.phase) return false;
  return before.thread != own_.thread || (before.another != 0 && before.another != own_.thread);
}

/// Whether a block's access was before it arrived at a counter at which the running one's arrival
/// is known to the running thread.
bool Accesses::is_counted(const Trace& before) const {
  const auto theirs = arrivals_.find(before.block), own = arrivals_.find(own_.block);
  if (theirs == arrivals_.end() || own == arrivals_.end()) return false;
  return std::ranges::any_of(theirs->second, [&](const Arrival& first) {
    if (first.by.phase < before.phase) return false;
    if (first.by.phase == before.phase && first.by.thread != before.thread) return false;
    return std::ranges::any_of(own->second, [&](const Arrival& then) {
      return then.counter == first.counter && knows_of(then);
    });
  });
}

/// An arrival of the running block: fenced by its thread, which the running one has met since, or
/// by the running one after they met.
bool Accesses::knows_of(const Arrival& own) const {
  if (own_.thread == own.by.thread) return own.fenced != 0;
  const bool fenced_there = own.fenced != 0 && own_.phase >= own.fenced;
  return fenced_there || fences_[own_thread()] > fence_in(own.by);
}

void Accesses::note_end() {
  if (!checked_ || !waits_ || waited_[own_thread()] != 0) return;
  report(name_of(own_.thread, own_.block) + " ends and has not waited for the launches before");
}

void Accesses::note_fence() {
  if (!checked_) return;
  const unsigned now = fence_in(own_);
  fences_[own_thread()] = now;
  unfenced_[own_thread()] = 0;
  const auto arrivals = arrivals_.find(own_.block);
  if (arrivals == arrivals_.end()) return;
  for (Arrival& arrival : arrivals->second) {
    if (arrival.by.thread == own_.thread && arrival.fenced == 0) arrival.fenced = now;
  }
}

void Accesses::note_arrival(const unsigned* counter) {
  if (!checked_) return;
  const bool fenced = fences_[own_thread()] == fence_in(own_);  // also what others wrote before
  const std::size_t unfenced = unfenced_[own_thread()] != 0 ? own_thread()
                               : fenced                     ? unfenced_.size()
                                                            : unfenced_then_;
  if (unfenced < unfenced_.size()) {
    report(name_of(own_.thread, own_.block) +
           " counts its block, and no fence is behind what thread " + std::to_string(unfenced) +
           " has written");
  }
  arrivals_[own_.block].push_back({counter, own_});
}

std::string Accesses::does(const char* what, std::uintptr_t address) const {
  return name_of(own_.thread, own_.block) + what +
         (shared_.contains(address)
              ? "byte " + std::to_string(address - shared_.begin) + " of shared memory"
              : "global memory at " + hex(address));
}

void Accesses::report_race(const std::string& now, const Trace& before, const char* did) {
  const bool same_block = before.block == own_.block;
  const bool own = same_block && before.thread == own_.thread;  // and another thread's
  report(now + ", which " + name_of(own ? before.another : before.thread, before.block) + " has " +
         did + ", and no " + (same_block ? "barrier" : "counter") + " is between");
}

void Accesses::report(const std::string& what) {
  if (!finding_.empty()) return;
  finding_ = launch_ + ": " + what + " (addr2line -fCe PROGRAM " +
             hex(number_of(instruction_) - program_.begin) + ")";
}

}  // namespace trainyard::emulated
