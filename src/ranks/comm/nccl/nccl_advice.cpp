#include "ranks/comm/nccl/nccl_advice.h"

#include <array>

namespace trainyard::nccl {
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
