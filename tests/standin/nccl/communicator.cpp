#include "communicator.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

#include "collective.h"
#include "failure.h"
#include "order.h"
#include "stream.h"

namespace standin::nccl {
namespace {

// In reports and failure requests; NCCL's own begin like this.
constexpr const char* kKernel = "ncclDevKernel";

bool capturing(const Request& request, int device) {
  if (device_of(request.stream) != device) require_cuda(cudaErrorInvalidResourceHandle);
  bool captured = false;
  require_cuda(is_capturing(request.stream, captured));
  return captured;
}

Kind kind_of(Request::What what) {
  if (what == Request::What::broadcast) return Kind::broadcast;
  return what == Request::What::all_gather ? Kind::all_gather : Kind::all_reduce;
}

Message message_of(const Request& request) {
  const bool sent = request.what == Request::What::send;
  return {.sent = sent,
          .peer = request.root,
          .memory = static_cast<std::byte*>(sent ? const_cast<void*>(request.from) : request.to),
          .bytes = request.count * bytes_of(request.type)};
}

/// Takes those of the first one's stream out of `requests`, in their order.
std::vector<Request> of_first_stream(std::vector<Request>& requests) {
  const cudaStream_t stream = requests.front().stream;
  std::vector<Request> taken;
  std::erase_if(requests, [&](const Request& request) {
    if (request.stream != stream) return false;
    taken.push_back(request);
    return true;
  });
  return taken;
}

}  // namespace

Communicator::Communicator(const Identity& identity)
    : identity_(identity), share_(std::make_shared<Share>()) {
  share_->rank = identity.rank;
  share_->ranks = identity.ranks;
  share_->device = identity.device;
}

void Communicator::require_ready() const {
  const ncclResult_t now = state_;
  if (now == ncclInProgress) {
    throw Failure(ncclInvalidArgument,
                  "Attempt to use communicator before the previous operation returned ncclSuccess");
  }
  if (now != ncclSuccess) throw Failure(now, "");
}

ncclResult_t Communicator::start(const char* name, std::function<void()> job) {
  state_ = ncclInProgress;
  if (identity_.blocking) {
    state_ = run(name, job);
    return state_;
  }
  thread_ = std::jthread([this, name, job = std::move(job)] { state_ = run(name, job); });
  return ncclInProgress;
}

ncclResult_t Communicator::run(const char* name, const std::function<void()>& job) {
  try {
    require_none_requested(name, identity_.device);
    require_cuda(cudaSetDevice(identity_.device));
    job();
    return ncclSuccess;
  } catch (const Failure& failure) {
    note_failure(failure.what());
    return failure.result();
  }
}

ncclResult_t Communicator::join(const ncclUniqueId& id) {
  const std::uint64_t bus = bus_of_device(identity_.device);
  return start("ncclJoining", [this, id, bus] { meet(id, bus); });
}

/// Ranks whose number is taken, or with a different count, wait forever: NCCL's root gives up then
/// without telling any rank (bootstrap.cc, bootstrapRoot).
void Communicator::meet(const ncclUniqueId& id, std::uint64_t bus) {
  share_->meeting = std::make_shared<Meeting>(id);
  const auto wait_for = [&](const std::function<bool()>& condition) {
    if (!share_->order.wait_for(condition)) throw Failure(ncclInternalError, "aborted");
  };
  std::int32_t ranks = 0;
  Table& table = share_->meeting->table();
  const bool fits =
      table.ranks.compare_exchange_strong(ranks, identity_.ranks) || ranks == identity_.ranks;
  RankSlot& own = share_->own_slot();
  if (!fits || own.taken.exchange(1) != 0) wait_for([] { return false; });
  own.host = host_hash();
  own.bus = bus;
  own.introduced = 1;
  const auto all = [&](const auto& holds) {
    return [this, holds] {
      for (int rank = 0; rank < identity_.ranks; ++rank) {
        if (!holds(share_->meeting->slot(rank))) return false;
      }
      return true;
    };
  };
  wait_for(all([](const RankSlot& slot) { return slot.introduced != 0; }));
  require_own_gpu(bus);
  own.content = 1;
  wait_for(all([](const RankSlot& slot) { return slot.content != 0; }));
}

/// As initTransportsRank of init.cc; others wait for a rank that finds its GPU taken.
void Communicator::require_own_gpu(std::uint64_t bus) {
  for (int rank = 0; rank < identity_.ranks; ++rank) {
    const RankSlot& slot = share_->meeting->slot(rank);
    if (rank == identity_.rank || slot.host != share_->own_slot().host || slot.bus != bus) continue;
    std::ostringstream text;
    text << "Duplicate GPU detected : rank " << identity_.rank << " and rank " << rank
         << " both on CUDA device " << std::hex << bus;
    throw Failure(ncclInvalidUsage, text.str());
  }
}

ncclResult_t Communicator::enqueue(std::vector<Request> requests) {
  return start("ncclLaunching", [this, requests = std::move(requests)] { put(requests); });
}

/// The collectives of each stream as one piece of work, then the messages of each stream.
void Communicator::put(const std::vector<Request>& requests) {
  std::vector<Request> messages, collectives;
  for (const Request& request : requests) {
    if (capturing(request, identity_.device) != capturing(requests.front(), identity_.device)) {
      throw Failure(ncclInvalidUsage,  // enqueue.cc, taskAppend
                    "Streams given to a communicator within a NCCL group must either be all "
                    "uncaptured or all captured by the same graph.");
    }
    (request.is_message() ? messages : collectives).push_back(request);
  }
  while (!collectives.empty()) put_collectives(of_first_stream(collectives));
  while (!messages.empty()) {
    const std::vector<Request> together = of_first_stream(messages);
    const cudaStream_t stream = together.front().stream;
    const bool captured = capturing(together.front(), identity_.device);
    std::vector<Message> list;
    for (const Request& request : together) list.push_back(message_of(request));
    put(stream, captured, std::make_unique<Exchange>(*share_, captured, std::move(list)));
  }
}

/// `requests` are of one stream.
void Communicator::put_collectives(const std::vector<Request>& requests) {
  const cudaStream_t stream = requests.front().stream;
  const bool captured = capturing(requests.front(), identity_.device);
  std::vector<std::unique_ptr<Operation>> together;
  for (const Request& request : requests) {
    const Call call{.kind = kind_of(request.what),
                    .captured = captured ? 1U : 0U,
                    .type = request.type,
                    .root = request.root,
                    .count = request.count};
    together.push_back(std::make_unique<Collective>(*share_, call, request.from, request.to));
  }
  put(stream, captured, std::make_unique<Collectives>(std::move(together)));
}

void Communicator::put(cudaStream_t stream, bool captured, std::unique_ptr<Operation> operation) {
  const auto launchable =
      std::make_shared<Launchable>(share_, std::move(operation), captured ? graphs_ : nullptr);
  require_cuda(standin::enqueue(
      stream, kKernel, [launchable] { return launchable->advance(); },
      [launchable] { launchable->launched(); }));
}

bool Communicator::at_rest() { return share_->order.idle() && graphs_.use_count() == 1; }

ncclResult_t Communicator::finalize() {
  if (std::exchange(finalized_, true)) throw Failure(ncclInvalidArgument, "");
  return start("ncclFinalizing", [this] {
    if (!share_->order.wait_for([this] { return at_rest(); })) {
      throw Failure(ncclInternalError, "aborted");
    }
  });
}

void Communicator::finish() {
  share_->order.wait_out([this] { return at_rest(); });
  thread_ = {};
}

void Communicator::abort() {
  share_->order.abort();
  thread_ = {};
  finish();
}

}  // namespace standin::nccl
