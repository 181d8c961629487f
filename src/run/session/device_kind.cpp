#include "run/session/device_kind.h"

#include <algorithm>
#include <vector>

#include "base/error.h"

namespace trainyard {

void require_one_kind(const DeviceKind& own, RankGroup& ranks) {
  const std::vector<std::string> kinds = ranks.gather(own.gpu ? "GPU" : "processor");
  const auto with = std::ranges::find(kinds, "GPU");
  const auto without = std::ranges::find(kinds, "processor");
  if (with == kinds.end() || without == kinds.end()) return;
  const std::vector<std::string> names = ranks.gather(ranks.name());
  const std::vector<std::string> reasons = ranks.gather(own.no_gpu);
  const auto lacking = static_cast<std::size_t>(without - kinds.begin());
  const std::string why = reasons[lacking].empty() ? "" : ": " + reasons[lacking];
  throw Error(ErrorKind::device,
              names[static_cast<std::size_t>(with - kinds.begin())] + " has a GPU, and " +
                  names[lacking] + " has none" + why +
                  "; ranks train all on GPUs or all on CPUs: fix it there (train doctor), "
                  "leave that machine out, or give --gpus 0");
}

}  // namespace trainyard
