#include "comm/nccl_library.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/shared_library.h"
#include "comm/nccl_advice.h"

namespace trainyard::nccl {
namespace {

Functions functions_of(const SharedLibrary& library) {
  Functions all{};
  const auto find = [&, expected = "NCCL " + version_text(Library::kLeastVersion) + " or newer"](
                        const char* name, auto& to) { library.require(name, to, expected); };
  find("ncclGetVersion", all.version);
  find("ncclGetErrorString", all.error_string);
  find("ncclGetLastError", all.last_error);
  find("ncclGetUniqueId", all.unique_id);
  find("ncclCommInitRankConfig", all.join);
  find("ncclCommGetAsyncError", all.asynchronous_error);
  find("ncclCommFinalize", all.finalize);
  find("ncclCommDestroy", all.destroy);
  find("ncclCommAbort", all.give_up);
  find("ncclAllReduce", all.all_reduce);
  find("ncclBroadcast", all.broadcast);
  find("ncclAllGather", all.all_gather);
  find("ncclGroupStart", all.group_start);
  find("ncclGroupEnd", all.group_end);
  find("ncclSend", all.send);
  find("ncclRecv", all.receive);
  return all;
}

}  // namespace

ncclConfig_t config() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return config;
}

Library::Library(const std::filesystem::path& path) {
  SharedLibrary library(path);
  if (!library.is_open()) {
    throw Error(ErrorKind::device,
                "NCCL, which is needed for several GPUs, cannot be opened: " + library.problem() +
                    "; install it, or set TRAINYARD_CUDA_PATH to its folder");
  }
  functions_ = functions_of(library);
  int found = 0;
  functions_.version(&found);
  const std::string problem =
      version_problem("NCCL", static_cast<std::size_t>(found), kLeastVersion);
  if (!problem.empty()) {
    throw Error(ErrorKind::device, fmt::format("{}: {}", library.file().string(), problem));
  }
  library.keep();
}

std::string Library::version() const {
  int found = 0;
  functions_.version(&found);
  return version_text(static_cast<std::size_t>(found));
}

std::string Library::text_of(ncclResult_t result, ncclComm_t communicator) const {
  const char* reason = functions_.last_error(communicator);
  const std::string words = functions_.error_string(result);
  if (reason == nullptr || *reason == '\0') return words;
  return words + " (" + reason + ")" + advice_on(reason);
}

ncclUniqueId Library::make_unique_id() const {
  ncclUniqueId id{};
  const ncclResult_t result = functions_.unique_id(&id);
  if (result == ncclSuccess) return id;
  throw Error(ErrorKind::device, "NCCL: no id for a new group: " + text_of(result, nullptr) +
                                     "; check that this machine has a network interface, and "
                                     "check NCCL_SOCKET_IFNAME");
}

}  // namespace trainyard::nccl
