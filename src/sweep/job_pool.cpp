#include "sweep/job_pool.h"

#include <algorithm>
#include <csignal>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "ranks/spawn/rank_output.h"

namespace trainyard {
namespace {

constexpr double kSecondsToEnd = 5;  // after a second SIGINT

struct RunningJob {
  std::size_t index;
  RankOutput log;
  RankProcess process;
};

class Pool {
 public:
  Pool(std::size_t count, std::size_t slots, const PoolCalls& calls, const Clock& clock)
      : count_(count), calls_(calls), clock_(clock), slots_(slots) {}

  int run() {
    fill();
    while (any_runs()) {
      const double left = deadline_ ? std::max(0.0, *deadline_ - clock_.seconds()) : -1;
      for (const int signal : signals_.wait(left)) pass(signal);
      if (deadline_ && clock_.seconds() >= *deadline_) kill_all();
      collect();
      fill();
    }
    return stopped_;
  }

 private:
  [[nodiscard]] bool any_runs() const {
    return std::any_of(slots_.begin(), slots_.end(),
                       [](const auto& slot) { return slot.has_value(); });
  }
  void fill() {
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      while (!slots_[slot] && next_ < count_ && stopped_ == 0 &&
             (!calls_.may_start || calls_.may_start())) {
        start(slot);
      }
    }
  }
  void start(std::size_t slot) {
    const std::size_t index = next_++;
    try {
      const PoolJob job = calls_.job(index, slot);
      std::error_code ignored;  // at() reports what matters
      fs::remove(job.log, ignored);
      RankOutput log = RankOutput::at(job.log);
      const ProcessStreams streams{.out = log.descriptor(), .errors = log.descriptor()};
      RankProcess process(job.command, streams);
      slots_[slot].emplace(RunningJob{index, std::move(log), std::move(process)});
      calls_.started(index);
    } catch (const Error& error) {
      calls_.ended(index, {.end = {.exit_code = error.exit_code()}, .problem = error.what()});
    }
  }
  void pass(int signal) {
    if (signal == SIGCHLD) return;
    if (signal != SIGUSR2) stopped_ = signal;
    if (signal == SIGINT) ++interrupts_;
    for (auto& slot : slots_) {
      if (slot) slot->process.send(signal);
    }
    if (interrupts_ > 1 && !deadline_) deadline_ = clock_.seconds() + kSecondsToEnd;
  }
  void kill_all() {
    for (auto& slot : slots_) {
      if (slot) slot->process.kill_group();
    }
    deadline_.reset();
  }
  void collect() {
    for (auto& slot : slots_) {
      if (!slot || !slot->process.end()) continue;
      const std::size_t index = slot->index;
      const ProcessEnd end = *slot->process.end();
      slot.reset();
      calls_.ended(index, {.end = end, .problem = ""});
    }
  }

  std::size_t count_;
  const PoolCalls& calls_;
  const Clock& clock_;
  SpawnSignals signals_;  // before the first process, so that no end is missed
  std::vector<std::optional<RunningJob>> slots_;
  std::size_t next_ = 0;
  int stopped_ = 0;
  int interrupts_ = 0;
  std::optional<double> deadline_;  // on the clock
};

}  // namespace

int run_jobs(std::size_t count, std::size_t slots, const PoolCalls& calls, const Clock& clock) {
  TY_CHECK(slots > 0, "a pool has a slot");
  return Pool(count, slots, calls, clock).run();
}

}  // namespace trainyard
