// The estimate of the shared memory that NCCL needs.
#include <doctest/doctest.h>

#include "ranks/comm/shared_memory.h"

using namespace trainyard;

namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

}  // namespace

TEST_CASE("GPUs without P2P in a container of 64 MiB get a warning that names --shm-size") {
  CHECK(shared_memory_warning({.ranks = 2, .direct = false, .shared_bytes = 64 * kMebibyte}) ==
        "NCCL goes through /dev/shm if GPUs cannot read each other's memory (P2P), which may be "
        "the case on this machine; it has 64 MiB free; 2 ranks need about 73 MiB: if NCCL fails, "
        "start the container with --shm-size=1g");
}

TEST_CASE("with P2P, enough memory, or a single rank, there is no warning") {
  CHECK(shared_memory_warning({.ranks = 2, .direct = true, .shared_bytes = 0}) == "");
  CHECK(shared_memory_warning({.ranks = 8, .direct = false, .shared_bytes = 1024 * kMebibyte}) ==
        "");
  CHECK(shared_memory_warning({.ranks = 1, .direct = false, .shared_bytes = 0}) == "");
  CHECK(shared_memory_warning({.ranks = 2, .direct = false}) == "");
}
