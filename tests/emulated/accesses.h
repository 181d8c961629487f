// What the threads of a launch do to memory, as hooks in the kernels' code report it
// (access_hooks.cpp), checked against what orders them on a GPU: within a block barriers; between
// blocks a counter at which both arrive, with fences before and after. So a race is found whatever
// the values are and whoever runs first. Shuffles order no memory, as in CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "shadow.h"

namespace trainyard::emulated {

enum class Access { read, write, atomic };

/// The accesses of one launch after another, whose blocks run one after the other.
class Accesses {
 public:
  Accesses();

  /// `launch`: its name in a finding. `waits`: every thread is to wait for the launches before it,
  /// ahead of its first access to global memory.
  void begin_launch(std::string launch, unsigned threads, bool checked, bool waits);
  /// Fills the shared memory that the block before has used with ones, which are NaN.
  void begin_block(unsigned block);
  /// What the host's thread does from here to leave() are accesses of this thread.
  void enter(unsigned thread, Range stack);
  static void leave();
  /// All threads of the block have arrived at a barrier.
  void pass_barrier();
  /// The launch's first race, or "".
  [[nodiscard]] const std::string& finding() const { return finding_; }

  // For the running thread.

  /// `instruction`: where it is in the program.
  void note(Range place, Access how, const void* instruction) {
    if (stack_.contains(place.begin) || program_.contains(place.begin)) return;
    check(place, how, instruction);
  }
  void note_wait() { waited_[own_thread()] = 1; }
  /// It has ended.
  void note_end();
  void note_fence();
  /// It has added its block to a counter, by an atomic operation.
  void note_arrival(const unsigned* counter);

 private:
  struct Arrival {
    const unsigned* counter;
    Trace by;
    unsigned fenced = 0;  // by this thread, afterwards: after how many barriers, + 1
  };

  void check(Range place, Access how, const void* instruction);
  void check_read(Cell& cell, std::uintptr_t address, bool poisoned);
  void check_write(Cell& cell, Access how, std::uintptr_t address);
  [[nodiscard]] bool races(const Trace& before) const;
  [[nodiscard]] bool is_counted(const Trace& before) const;
  [[nodiscard]] bool knows_of(const Arrival& own) const;
  [[nodiscard]] std::size_t own_thread() const { return own_.thread - 1; }
  [[nodiscard]] std::string does(const char* what, std::uintptr_t address) const;
  void report_race(const std::string& now, const Trace& before, const char* did);
  void report(const std::string& what);

  // Shared variables are thread-local ones of the host; the emulator's own are static.
  Range shared_, program_, stack_;
  Range parameters_;                    // parameters of the launch: in the host's frames
  Shadow shared_cells_, global_cells_;  // cells of a block, of a launch
  std::string launch_, finding_;
  bool checked_ = false, waits_ = false;
  Trace own_;  // trace of the running thread; phase: barriers passed by its block
  const void* instruction_ = nullptr;                                 // instruction of the access
  std::unordered_map<std::uint64_t, std::vector<Arrival>> arrivals_;  // by block
  std::vector<char> waited_;       // by thread: whether it has waited for the launches before
  std::vector<unsigned> fences_;   // by thread: after how many barriers the last one was, + 1
  std::vector<char> unfenced_;     // by thread: whether it has written since
  std::size_t unfenced_then_ = 0;  // the first such thread at the last barrier, or their number
};

extern Accesses accesses;
/// `accesses` while a thread of a launch that is checked runs on this thread of the host.
extern constinit thread_local Accesses* watching;

}  // namespace trainyard::emulated
