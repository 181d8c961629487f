#include "ranks/rank_group.h"

#include <algorithm>
#include <condition_variable>
#include <stop_token>
#include <thread>
#include <utility>

#include "ranks/comm/gloo_communicator.h"
#include "ranks/comm/shared_memory.h"
#include "ranks/comm/shared_ranks.h"
#include "ranks/rendezvous/socket.h"
#include "ranks/rendezvous/store_server.h"

namespace trainyard {
namespace {

/// Time that a rank which noticed a failure by itself has for an orderly end before it is ended.
constexpr Milliseconds kOwnEnd{5'000};
constexpr Operation kStart{"start"};
constexpr Operation kWaitForMachine{"what another rank of its machine reads", true};
constexpr const char* kNotMade = "-";  // instead of the result, which has the prefix "+"

Milliseconds milliseconds(double seconds) {
  return Milliseconds(static_cast<std::int64_t>(seconds * 1e3));
}

StoreServerOptions server_options(const RankGroupOptions& options) {
  const RankIdentity& identity = options.identity;
  return {.endpoint = {identity.master_address, static_cast<std::uint16_t>(identity.master_port)},
          .token = identity.token,
          .ranks = identity.ranks,
          .store = limits_for(identity.ranks),
          .watchdog = {.first_step = milliseconds(options.limits.first_step),
                       .step = milliseconds(options.limits.step),
                       .silence = milliseconds(options.limits.silence)}};
}

StoreAddress store_address(const RankIdentity& identity) {
  return {.endpoint = {identity.master_address, static_cast<std::uint16_t>(identity.master_port)},
          .token = identity.token};
}

}  // namespace

/// Rank 0's store, this rank's connections to it, and whether this rank's own thread handles a
/// failure.
class RankGroup::Meeting {
 public:
  Meeting(const RankGroupOptions& options, std::function<void(const Failure&)> on_failure)
      : server_(options.identity.rank == 0 ? std::make_unique<StoreServer>(server_options(options))
                                           : nullptr),
        store_(connect_to_store(store_address(options.identity),
                                milliseconds(options.limits.first_step))),
        watchdog_({.store = store_address(options.identity),
                   .rank = options.identity.rank,
                   .host = options.host,
                   .silence = milliseconds(options.limits.silence),
                   .connect = milliseconds(options.limits.first_step)},
                  std::move(on_failure)) {}

  [[nodiscard]] Store& store() { return *store_; }
  [[nodiscard]] Watchdog& watchdog() { return watchdog_; }

  /// From now on this rank's own thread handles a failure.
  void take_over() {
    const std::lock_guard lock(mutex_);
    taken_over_ = true;
    changed_.notify_all();
  }
  /// Waits for take_over(); false on timeout.
  [[nodiscard]] bool await_take_over() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kOwnEnd, [this] { return taken_over_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool taken_over_ = false;
  std::unique_ptr<StoreServer> server_;
  std::unique_ptr<Store> store_;
  Watchdog watchdog_;  // last: its thread ends before the rest is destroyed
};

/// Ends a failed rank that does not end by itself: a driver or a file system may block its thread
/// forever.
class RankGroup::Leaving {
 public:
  Leaving(Milliseconds limit, std::function<void()> end)
      : thread_([this, limit, end = std::move(end)](const std::stop_token& stop) {
          std::unique_lock lock(mutex_);
          changed_.wait_for(lock, stop, limit, [] { return false; });
          if (!stop.stop_requested()) end();
        }) {}

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::jthread thread_;  // last: it ends before the rest is destroyed
};

/// Tells the watchdog what it waits for, and what continues afterwards.
class RankGroup::ReportingCommunicator final : public ForwardingCommunicator {
 public:
  ReportingCommunicator(RankGroup& group, std::unique_ptr<Communicator> inner)
      : ForwardingCommunicator(*inner), group_(group), owned_(std::move(inner)) {}
  void all_reduce_sums(Queue& queue, std::span<const SumPart> parts) override {
    waiting(kAllReduce, [&] { inner().all_reduce_sums(queue, parts); });
  }
  void broadcast(Queue& queue, void* data, std::size_t bytes, int root) override {
    waiting(kBroadcast, [&] { inner().broadcast(queue, data, bytes, root); });
  }
  void all_gather(Queue& queue, const void* mine, std::size_t bytes, void* out) override {
    waiting(kAllGather, [&] { inner().all_gather(queue, mine, bytes, out); });
  }
  void all_to_all(Queue& queue, const void* mine, std::size_t bytes, void* out) override {
    waiting(kAllToAll, [&] { inner().all_to_all(queue, mine, bytes, out); });
  }
  void barrier() override {
    waiting(kBarrier, [&] { inner().barrier(); });
  }

 private:
  static constexpr Operation kAllReduce{"all_reduce", true}, kBroadcast{"broadcast", true},
      kAllGather{"all_gather", true}, kAllToAll{"all_to_all", true}, kBarrier{"barrier", true};

  template <class Call>
  void waiting(const Operation& operation, const Call& call) {
    Watchdog& watchdog = group_.meeting_->watchdog();
    watchdog.progress(group_.step_, operation);
    call();
    watchdog.progress(group_.step_, *group_.operation_);
  }

  RankGroup& group_;
  std::unique_ptr<Communicator> owned_;
};

RankGroup::RankGroup(const RankGroupOptions& options)
    : options_(options),
      device_(make_cpu_device()),
      queue_(device_->make_queue()),
      operation_(&kStart) {
  if (size() == 1) {
    communicator_ = make_single_communicator();
    return;
  }
  meeting_ =
      std::make_unique<Meeting>(options_, [this](const Failure& failure) { handle(failure); });
  auto sockets =
      make_gloo_communicator(rank(), size(), meeting_->store(),
                             {.address = own_address_towards(options_.identity.master_address),
                              .host = options_.host,
                              .connect = milliseconds(options_.limits.first_step),
                              .limit = call_limit()});
  const Communicator* const unshared = sockets.get();
  auto shared = share_sums(
      std::move(sockets), {.host = options_.host, .machine = own_machine(), .limit = call_limit()});
  shares_memory_ = shared.get() != unshared;
  communicator_ = std::make_unique<ReportingCommunicator>(*this, std::move(shared));
}

std::string RankGroup::name() const { return name_of_rank(rank(), options_.host); }

Milliseconds RankGroup::call_limit() const {
  return milliseconds(std::max(options_.limits.first_step, options_.limits.step));
}

RankGroup::~RankGroup() = default;

/// Called from the watchdog's thread. A rank whose collective failed calls report() by itself; one
/// that is stuck is ended here.
void RankGroup::handle(const Failure& failure) {
  if (meeting_ && meeting_->await_take_over()) return;
  const std::lock_guard lock(last_words_mutex_);
  if (last_words_) last_words_(failure);
  options_.on_failure(failure);
}

void RankGroup::set_last_words(std::function<void(const Failure&)> last_words) {
  const std::lock_guard lock(last_words_mutex_);
  last_words_ = std::move(last_words);
}

void RankGroup::progress(std::int64_t step, const Operation& operation) noexcept {
  step_ = step;
  operation_ = &operation;
  if (meeting_) meeting_->watchdog().progress(step, operation);
}

std::vector<std::string> RankGroup::gather(std::string_view mine) {
  if (!meeting_) return {std::string(mine)};
  return gather_texts(*communicator_, *queue_, mine);
}

std::string RankGroup::from_first(std::string_view text) {
  if (!meeting_) return std::string(text);
  return broadcast_text(*communicator_, *queue_, text, 0);
}

std::string RankGroup::once_a_machine(const std::function<std::string()>& make) {
  const std::string machine = own_machine();
  if (!meeting_ || machine.empty()) return make();
  Store& store = meeting_->store();
  const std::string key = machine + " " + std::to_string(made_once_++);
  const std::string answer = key + " made";
  if (store.add(key, 1) > 1) {
    meeting_->watchdog().progress(step_, kWaitForMachine);
    const std::string made = store.get(answer, call_limit());
    meeting_->watchdog().progress(step_, *operation_);
    if (made != kNotMade) return made.substr(1);
    throw device_error("a rank of this machine failed at work that the others wait for");
  }
  try {
    std::string made = make();
    store.set(answer, "+" + made);
    return made;
  } catch (...) {
    store.set(answer, kNotMade);
    throw;
  }
}

int RankGroup::largest(int mine) {
  if (!meeting_) return mine;
  return static_cast<int>(trainyard::largest(*communicator_, *queue_, mine));
}

void RankGroup::require_equal(std::string_view what, std::string_view mine) {
  const std::vector<std::string> all = gather(mine);
  for (std::size_t other = 1; other < all.size(); ++other) {
    if (all[other] == all[0]) continue;
    throw device_error("rank " + std::to_string(other) + " has a different " + std::string(what) +
                       " than rank 0: '" + all[other] + "' vs. '" + all[0] +
                       "'; all ranks must run the same program on the same files");
  }
}

Failure RankGroup::report(const Error& error) {
  // Errors of calls to other ranks begin with this rank's name, as a failure's message does.
  std::string text = error.what();
  const std::string before = name() + ": ";
  if (text.starts_with(before)) text.erase(0, before.size());
  if (!meeting_) {
    return {.rank = rank(), .host = options_.host, .text = text, .exit_code = error.exit_code()};
  }
  meeting_->take_over();
  const bool consequence = error.kind() == ErrorKind::device;
  const Failure first = meeting_->watchdog().report(text, error.exit_code(), consequence, kOwnEnd);
  leaving_ =
      std::make_unique<Leaving>(options_.leave, [this, first] { options_.on_failure(first); });
  return first;
}

void RankGroup::sign_off() {
  if (!meeting_) return;
  if (meeting_->watchdog().sign_off(milliseconds(options_.limits.step))) return;
  throw device_error("the other ranks did not end within the step time limit");
}

Error error_of(const Failure& failure) {
  return {static_cast<ErrorKind>(failure.exit_code), message_of(failure)};
}

Error first_of_ranks(RankGroup& ranks, const Error& own) {
  const Failure first = ranks.report(own);
  return first.rank == ranks.rank() ? own : error_of(first);
}

void require_equal_models(const std::string& hash, RankGroup& ranks, std::int64_t step) {
  const std::vector<std::string> all = ranks.gather(hash);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    throw device_error("after step " + std::to_string(step) + " rank " + std::to_string(rank) +
                       " has a different model than rank 0 (hash " + all[rank] + ", not " + all[0] +
                       "), though all took the same steps: a rank's memory or an all-reduce is "
                       "faulty; checkpoints saved since the last check may be wrong, too");
  }
}

}  // namespace trainyard
