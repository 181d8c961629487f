#include "comm/nccl_library.h"

#include <fmt/format.h>

#include <type_traits>

#include "base/error.h"
#include "base/shared_library.h"

namespace trainyard::nccl {
namespace {

template <class Function>
void find(const SharedLibrary& library, const char* name, Function& function) {
  function = library.function<std::remove_pointer_t<Function>>(name);
  if (function != nullptr) return;
  throw Error(ErrorKind::device,
              fmt::format("{} has no function {}; expected NCCL {} or newer",
                          library.file().string(), name, version_text(NCCL_VERSION_CODE)));
}

Functions functions_of(const SharedLibrary& library) {
  Functions all{};
  find(library, "ncclGetVersion", all.version);
  find(library, "ncclGetErrorString", all.error_string);
  find(library, "ncclGetLastError", all.last_error);
  find(library, "ncclGetUniqueId", all.unique_id);
  find(library, "ncclCommInitRankConfig", all.join);
  find(library, "ncclCommGetAsyncError", all.asynchronous_error);
  find(library, "ncclCommFinalize", all.finalize);
  find(library, "ncclCommDestroy", all.destroy);
  find(library, "ncclCommAbort", all.give_up);
  find(library, "ncclAllReduce", all.all_reduce);
  find(library, "ncclBroadcast", all.broadcast);
  find(library, "ncclAllGather", all.all_gather);
  return all;
}

}  // namespace

std::string version_text(int number) {
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

std::string version_problem(int found, int built) {
  if (found >= built && found / 10000 == built / 10000) return "";
  return fmt::format("NCCL {} was found, expected {} or a newer {}.x", version_text(found),
                     version_text(built), built / 10000);
}

ncclConfig_t config() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return config;
}

Library::Library(const std::filesystem::path& path) {
  SharedLibrary library(path);
  if (!library.is_open()) {
    throw Error(ErrorKind::device,
                "NCCL, which several GPUs need, cannot be opened: " + library.problem() +
                    "; install it, or set TRAINYARD_CUDA_PATH to its folder");
  }
  functions_ = functions_of(library);
  int found = 0;
  functions_.version(&found);
  const std::string problem = version_problem(found, NCCL_VERSION_CODE);
  if (!problem.empty()) {
    throw Error(ErrorKind::device, fmt::format("{}: {}", library.file().string(), problem));
  }
  library.keep();
}

std::string Library::version() const {
  int found = 0;
  functions_.version(&found);
  return version_text(found);
}

std::string Library::text_of(ncclResult_t result, ncclComm_t communicator) const {
  const char* reason = functions_.last_error(communicator);
  const std::string words = functions_.error_string(result);
  return reason == nullptr || *reason == '\0' ? words : words + " (" + reason + ")";
}

ncclUniqueId Library::make_unique_id() const {
  ncclUniqueId id{};
  const ncclResult_t result = functions_.unique_id(&id);
  if (result == ncclSuccess) return id;
  throw Error(ErrorKind::device, "NCCL: no id for a new group: " + text_of(result, nullptr) +
                                     "; see that this machine has a network interface, and what "
                                     "NCCL_SOCKET_IFNAME says");
}

}  // namespace trainyard::nccl
