#include "optim/optimizer.h"

#include "optim/kinds.h"

namespace trainyard {

std::span<const config::Kind<Optimizer>> optimizer_kinds() {
  static constexpr config::Kind<Optimizer> kKinds[] = {
      {"sgd", "stochastic gradient descent with momentum", read_sgd},
      {"rmsprop", "gradient over its running root mean square", read_rmsprop},
      {"adam", "running mean over running root mean square (Kingma and Ba 2015)", read_adam},
      {"adagrad", "gradient over the root of its summed squares (Duchi et al. 2011)", read_adagrad},
  };
  return kKinds;
}

}  // namespace trainyard
