// Loaded with LD_PRELOAD by scripts/gpu_kit/ranks.sh: each rank that `train --gpus 1 --replicas N` starts becomes the
// only rank of a host of its own. So ranks that share a GPU sum with NCCL, which refuses two ranks on one GPU of a host,
// instead of through the host's memory. The launcher, which has no RANK, is left as it is.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((constructor)) static void become_a_host(int count, char** words) {
  const char* rank = getenv("RANK");
  if (rank == NULL) return;
  char host[64];
  snprintf(host, sizeof host, "host of rank %s", rank);
  setenv("NCCL_HOSTID", host, 1);
  setenv("NCCL_SOCKET_IFNAME", "lo", 1);
  setenv("NCCL_IB_DISABLE", "1", 1);
  setenv("NCCL_MNNVL_ENABLE", "0", 1);
  setenv("LOCAL_RANK", "0", 1);
  setenv("LOCAL_WORLD_SIZE", "1", 1);
  for (int i = 1; i + 1 < count; ++i) {
    if (strcmp(words[i], "--replicas") == 0) strcpy(words[i + 1], "1");  // no longer than before
  }
}
