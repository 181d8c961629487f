#include "ops/all.h"

#include <array>
#include <tuple>

#include "ops/activation.h"
#include "ops/add.h"
#include "ops/auc.h"
#include "ops/average.h"
#include "ops/bn.h"
#include "ops/class_metrics.h"
#include "ops/concat.h"
#include "ops/conv.h"
#include "ops/conv_transpose.h"
#include "ops/dense.h"
#include "ops/dropout.h"
#include "ops/embedding.h"
#include "ops/flatten.h"
#include "ops/gaussian_noise.h"
#include "ops/likelihood.h"
#include "ops/loss.h"
#include "ops/lrn.h"
#include "ops/maximum.h"
#include "ops/multiply.h"
#include "ops/norm.h"
#include "ops/one_hot.h"
#include "ops/permute.h"
#include "ops/pool.h"
#include "ops/pool_steps.h"
#include "ops/prelu.h"
#include "ops/recurrent.h"
#include "ops/reshape.h"
#include "ops/scale.h"
#include "ops/shift.h"
#include "ops/softmax.h"
#include "ops/spatial_dropout.h"
#include "ops/top_k.h"
#include "ops/upsample.h"

namespace trainyard {
namespace {

template <class... Functions>
auto list_ops(const std::tuple<Functions...>*) {
  return std::array{
      conv_kind(),
      conv_transpose_kind(),
      dense_kind(),
      embedding_kind(),
      lstm_kind(),
      simple_rnn_kind(),
      bn_kind(),
      layer_norm_kind(),
      group_norm_kind(),
      instance_norm_kind(),
      lrn_kind(),
      scale_kind(),
      max_pool_kind(),
      avg_pool_kind(),
      global_max_pool_kind(),
      global_avg_pool_kind(),
      pool_steps_kind(),
      upsample_kind(),
      pad_kind(),
      crop_kind(),
      slice_kind(),
      permute_kind(),
      reshape_kind(),
      flatten_kind(),
      one_hot_kind(),
      dropout_kind(),
      spatial_dropout_kind(),
      gaussian_noise_kind(),
      add_kind(),
      concat_kind(),
      multiply_kind(),
      average_kind(),
      maximum_kind(),
      softmax_kind(),
      prelu_kind(),
      activation_kind<Functions>()...,
  };
}

template <class... Functions>
auto list_losses(const std::tuple<Functions...>*) {
  return std::array{loss_kind<Functions>()...};
}

}  // namespace

std::span<const config::Kind<Op>> op_kinds() {
  static const auto kinds = list_ops(static_cast<const Activations*>(nullptr));
  return kinds;
}

std::span<const config::Kind<AnyLoss>> loss_kinds() {
  static const auto kinds = list_losses(static_cast<const LossFunctions*>(nullptr));
  return kinds;
}

std::span<const config::Kind<Metric>> metric_kinds() {
  static const config::Kind<Metric> kinds[] = {
      accuracy_kind(),
      top_k_kind(),
      class_metric_kind<ClassPrecision>(),
      class_metric_kind<Recall>(),
      class_metric_kind<F1>(),
      class_metric_kind<MacroPrecision>(),
      class_metric_kind<MacroRecall>(),
      class_metric_kind<MacroF1>(),
      likelihood_kind<Perplexity>(),
      likelihood_kind<BitsPerCharacter>(),
      auc_kind(),
  };
  return kinds;
}

}  // namespace trainyard
