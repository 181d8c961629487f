#include "ranks/comm/nccl/nccl_library.h"

#include <array>

#include "base/error.h"

namespace trainyard::nccl {

ncclConfig_t config() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return config;
}

Library::Library(const fs::path& path) {
  Functions& all = functions_;
  open_library(required(), path,
               {{"ncclGetVersion", all.version},
                {"ncclGetErrorString", all.error_string},
                {"ncclGetLastError", all.last_error},
                {"ncclGetUniqueId", all.unique_id},
                {"ncclCommInitRankConfig", all.join},
                {"ncclCommGetAsyncError", all.asynchronous_error},
                {"ncclCommFinalize", all.finalize},
                {"ncclCommDestroy", all.destroy},
                {"ncclCommAbort", all.give_up},
                {"ncclAllReduce", all.all_reduce},
                {"ncclBroadcast", all.broadcast},
                {"ncclAllGather", all.all_gather},
                {"ncclGroupStart", all.group_start},
                {"ncclGroupEnd", all.group_end},
                {"ncclSend", all.send},
                {"ncclRecv", all.receive}});
}

std::string Library::version() const {
  int found = 0;
  functions_.version(&found);
  return version_text(found);
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
  throw device_error(
      "NCCL: no id for a new group: " + text_of(result, nullptr) +
      "; check that this machine has a network interface, and check NCCL_SOCKET_IFNAME");
}

namespace {

/// A fragment of NCCL's message (2.28: misc/shmutils.cc, transport/nvls.cc, mnnvl.cc), and advice.
struct Advice {
  std::string_view fragment;
  std::string_view text;
};
constexpr std::string_view kMoreShared =
    "; /dev/shm is too small: start the container with --shm-size=1g (Docker, Podman), or make it "
    "larger as root: mount -o remount,size=1g /dev/shm";
constexpr std::string_view kNoMachineLinks =
    "; set NCCL_MNNVL_ENABLE=0, which turns off NVLink between machines";
constexpr std::array<Advice, 4> kAll{
    {{"No space left", kMoreShared},
     {"NVLS", "; set NCCL_NVLS_ENABLE=0, which turns off sums in the NVLink switch"},
     {"MNNVL", kNoMachineLinks},
     {"IMEX", kNoMachineLinks}}};

}  // namespace

std::string advice_on(std::string_view message) {
  for (const Advice& advice : kAll) {
    if (message.find(advice.fragment) != std::string_view::npos) return std::string(advice.text);
  }
  return "";
}

}  // namespace trainyard::nccl
