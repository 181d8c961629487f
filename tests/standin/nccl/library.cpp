// The NCCL functions that the program calls (src/ranks/comm/nccl/nccl_library.h), with the checks
// and results of NCCL 2.28.9 (init.cc, enqueue.cc, argcheck.cc, collectives.cc).
#include <nccl.h>

#include <climits>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "communicator.h"
#include "failure.h"
#include "faults.h"
#include "group.h"
#include "order.h"

using namespace standin::nccl;

namespace {

/// The communicators of this process by their handles. Never destroyed: the program may end while
/// another thread is in here.
struct Registry {
  std::mutex mutex;
  std::map<ncclComm_t, CommunicatorPointer> all;

  static Registry& get() {
    static Registry* const registry = std::make_unique<Registry>().release();
    return *registry;
  }
};

/// Throws Failure for an invalid handle: NCCL's communicators are marked until they are destroyed.
CommunicatorPointer communicator_of(ncclComm_t handle, const char* call) {
  if (handle == nullptr) {
    throw Failure(ncclInvalidArgument, std::string(call) + " : comm argument is NULL");
  }
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  const auto found = registry.all.find(handle);
  if (found == registry.all.end()) {
    throw Failure(ncclInvalidArgument, "Error: corrupted comm object detected");
  }
  return found->second;
}

ncclComm_t register_communicator(const CommunicatorPointer& communicator) {
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  const auto handle = reinterpret_cast<ncclComm_t>(communicator.get());
  registry.all[handle] = communicator;
  return handle;
}

/// The result of work(), or of the Failure that it throws, whose text is stored.
template <class Work>
ncclResult_t answer(const Work& work) {
  try {
    return work();
  } catch (const Failure& failure) {
    if (*failure.what() != '\0') note_failure(failure.what());
    return failure.result();
  }
}

void require_pointer(const void* pointer, const std::string& call, const char* name) {
  if (pointer == nullptr) {
    throw Failure(ncclInvalidArgument, call + " : " + name + " argument is NULL");
  }
}

/// Whether calls block, from a configuration that NCCL accepts.
bool is_blocking(const ncclConfig_t* given) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  if (given != nullptr) {
    config.magic = 0;
    std::memcpy(&config, given, std::min(given->size, sizeof config));
  }
  if (config.magic != 0xcafebeef) {
    throw Failure(ncclInvalidArgument,
                  "ncclConfig_t argument not initialized via NCCL_CONFIG_INITIALIZER");
  }
  if (config.version < NCCL_VERSION(2, 14, 0)) config.blocking = NCCL_CONFIG_UNDEF_INT;
  if (config.blocking != NCCL_CONFIG_UNDEF_INT && config.blocking != 0 && config.blocking != 1) {
    throw Failure(ncclInvalidArgument,
                  "Invalid config blocking attribute value " + std::to_string(config.blocking));
  }
  return config.blocking != 0;
}

void require_rank(int rank, int ranks) {
  if (ranks < 1 || rank < 0 || rank >= ranks) {
    throw Failure(ncclInvalidArgument,
                  "Invalid rank requested : " + std::to_string(rank) + "/" + std::to_string(ranks));
  }
  if (ranks > kMostRanks) {
    throw Failure(ncclInternalError,
                  "the stand-in has at most " + std::to_string(kMostRanks) + " ranks");
  }
}

void require_arguments(const Request& request, const Communicator& communicator) {
  const std::string call = request.name;
  const int ranks = communicator.identity().ranks;
  if (request.root < 0 || request.root >= ranks) {
    throw Failure(ncclInvalidArgument, call + " : invalid root " + std::to_string(request.root) +
                                           " (root should be in the 0.." + std::to_string(ranks) +
                                           " range)");
  }
  if (bytes_of(request.type) == 0) {
    throw Failure(ncclInvalidArgument, call + " : invalid type " + std::to_string(request.type));
  }
  if (request.what == Request::What::all_reduce && !can_sum(request.type)) {
    throw Failure(ncclInternalError,
                  "the stand-in does not sum type " + std::to_string(request.type));
  }
}

/// NCCL launches nothing for these: a collective of no elements, and one of a single rank in
/// place.
bool is_nothing(const Request& request, const Communicator& communicator) {
  if (request.is_message()) return false;
  return request.count == 0 || (communicator.identity().ranks == 1 && request.from == request.to);
}

/// ncclEnqueueCheck of enqueue.cc.
ncclResult_t call(ncclComm_t handle, const Request& request) {
  Group& group = Group::current();
  CommunicatorPointer communicator;
  ncclResult_t result = answer([&] {
    communicator = communicator_of(handle, request.name);
    return ncclSuccess;
  });
  if (result != ncclSuccess) {
    group.fail(result);
    return result;
  }
  group.start();
  result = answer([&] {
    communicator->require_ready();
    require_none_requested(request.name, communicator->identity().device);
    require_arguments(request, *communicator);
    if (!is_nothing(request, *communicator)) group.add(communicator, request);
    return ncclSuccess;
  });
  if (result != ncclSuccess) {
    communicator->set_state(result);
    group.fail(result);
  }
  const ncclResult_t ended = group.end();
  if (!communicator->identity().blocking) return communicator->state();
  return result != ncclSuccess ? result : ended;
}

/// Invalidates the handle of a communicator whose thread has ended.
void forget(ncclComm_t handle) {
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  registry.all.erase(handle);
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  return answer([&] {
    require_pointer(version, "GetVersion", "version");
    *version = standin::requested_number("ncclGetVersion", NCCL_VERSION_CODE);
    return ncclSuccess;
  });
}

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError:
      return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInternalError:
      return "internal error - please report this issue to the NCCL developers";
    case ncclInvalidArgument:
      return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case ncclInvalidUsage:
      return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "NCCL operation in progress";
    default:
      return "unknown result code";
  }
}

const char* ncclGetLastError(ncclComm_t) { return last_failure(); }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  return answer([&] {
    require_none_requested("ncclGetUniqueId", -1);
    require_pointer(id, "GetUniqueId", "out");
    *id = Meeting::arrange();
    return ncclSuccess;
  });
}

/// Starts at once even in a group: ranks joined by one thread need no group here.
ncclResult_t ncclCommInitRankConfig(ncclComm_t* handle, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  if (handle != nullptr) *handle = nullptr;
  return answer([&] {
    int device = 0;
    require_cuda(cudaGetDevice(&device));
    require_cuda(cudaFree(nullptr));
    require_none_requested("ncclCommInitRankConfig", device);
    require_pointer(handle, "CommInitRank", "newcomm");
    require_rank(rank, ranks);
    const auto communicator = std::make_shared<Communicator>(
        Identity{.rank = rank, .ranks = ranks, .device = device, .blocking = is_blocking(config)});
    *handle = register_communicator(communicator);
    return communicator->join(id);
  });
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t handle, ncclResult_t* state) {
  return answer([&] {
    const auto communicator = communicator_of(handle, "ncclGetAsyncError");
    require_pointer(state, "ncclGetAsyncError", "asyncError");
    *state = communicator->state();
    return ncclSuccess;
  });
}

ncclResult_t ncclCommFinalize(ncclComm_t handle) {
  if (handle == nullptr) return ncclSuccess;
  return answer([&] {
    const auto communicator = communicator_of(handle, "ncclCommFinalize");
    try {
      communicator->require_ready();
      return communicator->finalize();
    } catch (const Failure& failure) {
      communicator->set_state(failure.result());
      throw;
    }
  });
}

ncclResult_t ncclCommDestroy(ncclComm_t handle) {
  if (handle == nullptr) return ncclSuccess;
  return answer([&] {
    const auto communicator = communicator_of(handle, "ncclCommDestroy");
    communicator->require_ready();
    communicator->finish();
    forget(handle);
    return ncclSuccess;
  });
}

ncclResult_t ncclCommAbort(ncclComm_t handle) {
  if (handle == nullptr) return ncclSuccess;
  return answer([&] {
    communicator_of(handle, "ncclCommAbort")->abort();
    forget(handle);
    return ncclSuccess;
  });
}

ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t group, cudaStream_t stream) {
  if (operation != ncclSum) {
    const ncclResult_t refused = answer([]() -> ncclResult_t {
      throw Failure(ncclInternalError, "the stand-in supports no reduction but ncclSum");
    });
    Group::current().fail(refused);
    return refused;
  }
  return call(group, {.what = Request::What::all_reduce,
                      .name = "ncclAllReduce",
                      .from = from,
                      .to = to,
                      .count = count,
                      .type = type,
                      .stream = stream});
}

ncclResult_t ncclBroadcast(const void* from, void* to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t group, cudaStream_t stream) {
  return call(group, {.what = Request::What::broadcast,
                      .name = "ncclBroadcast",
                      .from = from,
                      .to = to,
                      .count = count,
                      .type = type,
                      .root = root,
                      .stream = stream});
}

ncclResult_t ncclAllGather(const void* from, void* to, size_t count, ncclDataType_t type,
                           ncclComm_t group, cudaStream_t stream) {
  return call(group, {.what = Request::What::all_gather,
                      .name = "ncclAllGather",
                      .from = from,
                      .to = to,
                      .count = count,
                      .type = type,
                      .stream = stream});
}

ncclResult_t ncclSend(const void* from, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t group, cudaStream_t stream) {
  return call(group, {.what = Request::What::send,
                      .name = "ncclSend",
                      .from = from,
                      .count = count,
                      .type = type,
                      .root = peer,
                      .stream = stream});
}

ncclResult_t ncclRecv(void* to, size_t count, ncclDataType_t type, int peer, ncclComm_t group,
                      cudaStream_t stream) {
  return call(group, {.what = Request::What::receive,
                      .name = "ncclRecv",
                      .to = to,
                      .count = count,
                      .type = type,
                      .root = peer,
                      .stream = stream});
}

ncclResult_t ncclGroupStart() {
  Group::current().start();
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  return answer([] { return Group::current().end(); });
}

}  // extern "C"
