#include "comm/nccl_advice.h"

#include <array>

namespace trainyard::nccl {
namespace {

struct Advice {
  std::string_view
      fragment;  // of NCCL's message (2.28: misc/shmutils.cc, transport/nvls.cc, mnnvl.cc)
  std::string_view text;
};
constexpr std::array<Advice, 5> kAll{
    {{"shared memory",
      "; /dev/shm is too small: start the container with --shm-size=1g (Docker, Podman), or as "
      "root "
      "make it larger, mount -o remount,size=1g /dev/shm"},
     {"/dev/shm/nccl", "; /dev/shm is too small: start the container with --shm-size=1g"},
     {"NVLS", "; set NCCL_NVLS_ENABLE=0, which does without sums in the NVLink switch"},
     {"MNNVL", "; set NCCL_MNNVL_ENABLE=0, which does without NVLink between machines"},
     {"IMEX", "; set NCCL_MNNVL_ENABLE=0, which does without NVLink between machines"}}};

}  // namespace

std::string advice_on(std::string_view message) {
  for (const Advice& advice : kAll) {
    if (message.find(advice.fragment) != std::string_view::npos) return std::string(advice.text);
  }
  return "";
}

}  // namespace trainyard::nccl
