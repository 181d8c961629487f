#include "run/session/join_gpus.h"

#include "base/error.h"
#include "base/host_name.h"
#include "ranks/comm/nccl_space.h"
#include "ranks/comm/staged_communicator.h"

namespace trainyard {

std::filesystem::path library_path(const UsableGpus& gpus, const std::string& name) {
  for (const LibraryFinding& library : gpus.libraries) {
    if (library.name == name) return library.path;
  }
  TY_CHECK(false, "the GPU part knows no " + name);
  return {};
}

void join_gpus(const DeviceChoice& choice, RankGroup& ranks, SessionDevice& session) {
  const UsableGpus& usable = *choice.gpus;
  // NCCL takes one rank per GPU.
  if (ranks.largest(usable.share.shared() ? 1 : 0) > 0) {
    session.ranks = make_staged_communicator(*session.device, ranks.communicator());
    return;
  }
  require_joining_libraries(usable);
  const std::string warning = shared_memory_warning({.ranks = ranks.identity().local_ranks,
                                                     .direct = usable.direct,
                                                     .shared_bytes = free_shared_bytes()});
  if (!warning.empty() && ranks.identity().local_rank == 0) choice.warn(warning);
  session.sums = session.device->make_high_priority_queue();
  session.ranks = usable.backend->make_nccl_ranks(
      {.library = library_path(usable, "NCCL"),
       .rank = ranks.rank(),
       .ranks = ranks.size(),
       .host = host_name(),
       .device = session.device.get(),
       .clock = &ranks.clock(),
       .share =
           [&](std::span<std::byte> id) {
             ranks.communicator().broadcast(ranks.queue(), id.data(), id.size(), 0);
           },
       .limit = ranks.call_limit()});
}

}  // namespace trainyard
