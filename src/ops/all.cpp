#include <vector>

#include "ops/activation.h"
#include "ops/bn.h"
#include "ops/convolution.h"
#include "ops/dense.h"
#include "ops/dropout.h"
#include "ops/joins.h"
#include "ops/norm.h"
#include "ops/pool.h"
#include "ops/recurrent.h"
#include "ops/sequence.h"
#include "ops/shapes.h"

namespace trainyard {

std::span<const config::Kind<Op>> op_kinds() {
  static const std::vector<config::Kind<Op>> kinds = [] {
    std::vector<config::Kind<Op>> all;
    for (const auto& some :
         {convolution_kinds(), dense_kinds(), embedding_kinds(), recurrent_kinds(), bn_kinds(),
          norm_kinds(), pool_kinds(), pool_step_kinds(), shape_kinds(), dropout_kinds(),
          join_kinds(), activation_kinds()}) {
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }();
  return kinds;
}

}  // namespace trainyard
