#include "ranks/rendezvous/watchdog.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "ranks/rendezvous/store_channel.h"
#include "ranks/rendezvous/watchdog_board.h"

namespace trainyard {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr Operation kStart{"start"};

}  // namespace

class Watchdog::Part {
 public:
  Part(const WatchdogOptions& options, OnFailure on_failure);
  ~Part() {
    thread_.request_stop();
    wake_.signal();
  }

  void progress(std::int64_t step, const Operation& operation) noexcept {
    step_.store(step, std::memory_order_relaxed);
    operation_.store(&operation, std::memory_order_relaxed);
    // Only one thread writes, so no locked addition is needed.
    ticks_.store(ticks_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  Failure report(const std::string& text, int exit_code, bool consequence, Milliseconds limit) {
    Failure mine = own_failure(text);
    mine.exit_code = exit_code;
    mine.consequence = consequence;
    std::unique_lock lock(mutex_);
    told_ = mine;
    reports_ = true;
    wish_ = Wish::report;
    wake_.signal();
    ended_changed_.wait_for(lock, limit, [&] { return ended_; });
    // The loss of rank 0 says less than what happened here.
    return announced_ || (failure_ && consequence) ? *failure_ : mine;
  }
  bool sign_off(Milliseconds limit) {
    std::unique_lock lock(mutex_);
    wish_ = Wish::leave;
    wake_.signal();
    ended_changed_.wait_for(lock, limit, [&] { return ended_; });
    return ended_ && !failure_;
  }

 private:
  enum class Wish { none, report, leave };

  void run(const std::stop_token& stop) {
    std::string lost;
    try {
      while (!stop.stop_requested()) {
        const Moment now = SteadyClock::now();
        take_wish();
        if (now >= next_beat_) beat(now);
        if (!exchange()) {
          lost = "its connection closed";
          break;
        }
        while (const auto message = dialogue_.take()) {
          heard_ = SteadyClock::now();
          if (heed(*message)) return;
        }
        if (SteadyClock::now() - heard_ >= silence_) {
          lost = "it sent nothing for " +
                 number_text(std::chrono::duration<double>(silence_).count()) + " s";
          break;
        }
        dialogue_.await(wake_.descriptor(), std::chrono::ceil<Milliseconds>(next_beat_ - now));
        wake_.clear();
      }
      // What arrived before the end still counts: it may be a failure, rank 0's last message.
      while (const auto message = dialogue_.take()) {
        if (heed(*message)) return;
      }
    } catch (const std::exception& error) {
      lost = error.what();
    }
    if (!lost.empty()) end(loss_of_store(lost));
  }
  void beat(Moment now) {
    next_beat_ = now + interval_;
    // One unsent heartbeat is enough; a stopped reader must not fill the memory.
    if (!dialogue_.all_sent()) return;
    const std::uint64_t ticks = ticks_.load(std::memory_order_acquire);
    const Operation& operation = *operation_.load(std::memory_order_relaxed);
    dialogue_.post({.kind = MessageKind::beat,
                    .number = step_.load(std::memory_order_relaxed),
                    .key = operation.name,
                    .value = encode_pulse({.ticks = ticks, .waits = operation.waits})});
  }
  void take_wish() {
    const std::scoped_lock lock(mutex_);
    if (wish_ == Wish::report) {
      dialogue_.post({.kind = MessageKind::report, .value = encode(told_)});
    } else if (wish_ == Wish::leave) {
      dialogue_.post({.kind = MessageKind::sign_off});
    }
    wish_ = Wish::none;
  }
  [[nodiscard]] bool heed(const Message& message) {
    switch (message.kind) {
      case MessageKind::failed:
        announced_ = true;
        end(decode_failure(message.value));
        return true;
      case MessageKind::refused:
        end(loss_of_store("it refused this rank: " + message.value));
        return true;
      case MessageKind::left:
        end({});
        return true;
      default:
        return false;
    }
  }
  [[nodiscard]] bool exchange() {
    const bool sent = dialogue_.flush();
    const bool received = dialogue_.receive();
    return sent && received;
  }
  void end(std::optional<Failure> failure) {
    bool call = false;
    {
      const std::scoped_lock lock(mutex_);
      if (ended_) return;
      ended_ = true;
      failure_ = std::move(failure);
      call = failure_ && !reports_;
    }
    ended_changed_.notify_all();
    if (call) on_failure_(*failure_);
  }
  [[nodiscard]] Failure own_failure(std::string text) const {
    return {.rank = rank_,
            .host = host_,
            .step = step_.load(std::memory_order_relaxed),
            .operation = operation_.load(std::memory_order_relaxed)->name,
            .text = std::move(text)};
  }
  [[nodiscard]] Failure loss_of_store(const std::string& how) const {
    Failure failure =
        own_failure("no longer reachable from rank " + std::to_string(rank_) + ": " + how +
                    "; see its output, and whether its machine ran out of memory");
    failure.rank = 0;
    failure.host = dialogue_.endpoint().text();
    failure.exit_code = static_cast<int>(ErrorKind::device);
    return failure;
  }

  int rank_;
  std::string host_;
  Milliseconds interval_, silence_;
  OnFailure on_failure_;
  StoreChannel dialogue_;
  Wake wake_;
  std::atomic<std::int64_t> step_{0};
  std::atomic<const Operation*> operation_{&kStart};
  std::atomic<std::uint64_t> ticks_{0};
  Moment next_beat_, heard_;  // times of the thread

  std::mutex mutex_;  // guards the following members
  std::condition_variable ended_changed_;
  Wish wish_ = Wish::none;
  bool reports_ = false;  // report() was called
  Failure told_;
  bool ended_ = false;
  std::optional<Failure> failure_;       // the first of all ranks, once ended
  std::atomic<bool> announced_ = false;  // set by rank 0, before ended

  std::jthread thread_;  // last: it ends before the rest is destroyed
};

Watchdog::Part::Part(const WatchdogOptions& options, OnFailure on_failure)
    : rank_(options.rank),
      host_(options.host),
      interval_(options.interval),
      silence_(options.silence),
      on_failure_(std::move(on_failure)),
      dialogue_(options.store, options.connect) {
  static_cast<void>(dialogue_.ask(
      {.kind = MessageKind::join, .number = rank_, .key = host_.substr(0, kMaxKeyBytes)},
      options.connect));
  heard_ = next_beat_ = SteadyClock::now();
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Watchdog::Watchdog(const WatchdogOptions& options, OnFailure on_failure)
    : part_(std::make_unique<Part>(options, std::move(on_failure))) {}

Watchdog::~Watchdog() = default;

void Watchdog::progress(std::int64_t step, const Operation& operation) noexcept {
  part_->progress(step, operation);
}

Failure Watchdog::report(const std::string& text, int exit_code, bool consequence,
                         Milliseconds limit) {
  return part_->report(text, exit_code, consequence, limit);
}

bool Watchdog::sign_off(Milliseconds limit) { return part_->sign_off(limit); }

}  // namespace trainyard
