// Batch normalisation, with the following ReLU if the planner fused the two.
#include "ops/bn.h"

#include "exec/batch_sums.h"
#include "exec/functor/channels.h"
#include "exec/onednn/descriptors.h"
#include "exec/onednn/executors.h"

namespace trainyard::onednn {
namespace {

using Flags = dnnl::normalization_flags;

struct BatchNorm {
  BnAttributes attributes;
  Desc input, output;  // in the plan's layouts
  Desc data;           // in the primitives' layout
  Desc channels;
  float eps = 0;
  Flags flags = Flags::none;
};

/// A layout with fast code and the same memory if there is one; else a dense one.
Layout work_layout(const Layout& layout) {
  const Shape shape = shape_of(layout);
  if (layout.block > 1) return blocked_layout(shape, layout.block);
  // If rows are not interrupted by pixels, n, c is n, h, w, c: that has vector code, unlike n, c,
  // h, w.
  const bool features = layout.extent[2] * layout.extent[3] == 1 && is_dense(layout);
  return features ? channels_last_layout(shape, 1) : layout;
}

BatchNorm describe_bn(const StepDescription& step) {
  const BnAttributes& bn = static_cast<const BnOp&>(*step.op).values();
  const Layout& layout = step.inputs[0];
  const Layout work = work_layout(layout);
  Flags flags = step.pass == Pass::forward_eval ? Flags::use_global_stats : Flags::none;
  if (bn.scale) flags |= Flags::use_scale;
  if (bn.center) flags |= Flags::use_shift;
  if (bn.relu) flags |= Flags::fuse_norm_relu;
  const auto given = [&](const Layout& have) {
    return desc_of(same_memory(have, work) ? work : have);
  };
  return {.attributes = bn,
          .input = given(layout),
          .output = given(step.outputs[0]),
          .data = desc_of(work),
          .channels = plain_desc({layout.extent[1]}),
          .eps = static_cast<float>(bn.eps),
          .flags = flags};
}

/// gamma and beta, if they are on.
void add_parameters(PrimitiveList& list, const BatchNorm& bn, PrimitiveList::Arguments& arguments) {
  std::size_t index = 0;
  if (bn.attributes.scale) {
    arguments.emplace_back(DNNL_ARG_SCALE, list.tensor(Source::parameter, index++, bn.channels));
  }
  if (bn.attributes.center) {
    arguments.emplace_back(DNNL_ARG_SHIFT, list.tensor(Source::parameter, index, bn.channels));
  }
}

void add_parameter_gradients(PrimitiveList& list, const BatchNorm& bn,
                             PrimitiveList::Arguments& arguments) {
  std::size_t index = 0;
  if (bn.attributes.scale) {
    arguments.emplace_back(DNNL_ARG_DIFF_SCALE,
                           list.optional_parameter_gradient(index++, bn.channels));
  }
  if (bn.attributes.center) {
    arguments.emplace_back(DNNL_ARG_DIFF_SHIFT,
                           list.optional_parameter_gradient(index, bn.channels));
  }
}

void add_statistics(PrimitiveList& list, const BatchNorm& bn, Source source,
                    PrimitiveList::Arguments& arguments) {
  arguments.emplace_back(DNNL_ARG_MEAN, list.tensor(source, 0, bn.channels));
  arguments.emplace_back(DNNL_ARG_VARIANCE, list.tensor(source, 1, bn.channels));
}

void add_forward(PrimitiveList& list, const BatchNorm& bn, bool training) {
  const auto prop =
      training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
  const auto desc = batch_norm_forward(list.engine(), prop, bn.data, bn.eps, bn.flags);
  TY_CHECK(desc, "oneDNN normalises every shape that inference lets pass");
  PrimitiveList::Arguments arguments{
      {DNNL_ARG_SRC, list.read_as(Source::input, 0, bn.input, bn.data)},
      {DNNL_ARG_DST, list.write_as(Source::output, 0, bn.output, bn.data)}};
  add_parameters(list, bn, arguments);
  add_statistics(list, bn, training ? Source::batch_statistic : Source::running, arguments);
  if (training && bn.attributes.relu) {
    arguments.emplace_back(DNNL_ARG_WORKSPACE, list.reserve(desc.workspace_desc()));
  }
  list.add(desc, dnnl::batch_normalization_forward(desc), arguments);
}

void add_backward(PrimitiveList& list, const BatchNorm& bn, bool needs_input_gradient) {
  const auto forward = batch_norm_forward(list.engine(), dnnl::prop_kind::forward_training, bn.data,
                                          bn.eps, bn.flags);
  const auto desc = batch_norm_backward(list.engine(), forward, bn.data, bn.eps, bn.flags);
  TY_CHECK(desc, "oneDNN normalises every shape that inference lets pass");
  PrimitiveList::Arguments arguments{
      {DNNL_ARG_SRC, list.read_as(Source::input, 0, bn.input, bn.data)},
      {DNNL_ARG_DIFF_DST, list.read_as(Source::output_gradient, 0, bn.output, bn.data)},
      {DNNL_ARG_DIFF_SRC, needs_input_gradient
                              ? list.write_as(Source::input_gradient, 0, bn.input, bn.data)
                              : list.workspace(bn.data)}};
  add_parameters(list, bn, arguments);
  add_parameter_gradients(list, bn, arguments);
  add_statistics(list, bn, Source::batch_statistic, arguments);
  if (bn.attributes.relu) {
    arguments.emplace_back(DNNL_ARG_WORKSPACE, list.reserve(forward.workspace_desc()));
  }
  list.add(desc, dnnl::batch_normalization_backward(desc), arguments);
}

bool has_whole_blocks(const StepDescription& step) {
  return step.inputs[0].extent[1] % step.inputs[0].block == 0;
}

}  // namespace

std::unique_ptr<Executor> make_bn(const LibraryPtr& library, const StepDescription& step) {
  // oneDNN does not sum over other replicas.
  const bool joined = SyncedBatch(step).joined();
  if (has_plane_code(step) && (joined || has_whole_blocks(step))) return make_bn_planes(step);
  const bool residual = static_cast<const BnOp&>(*step.op).values().residual;
  if (joined || residual) return make_channel_executor(step);
  auto list = std::make_unique<PrimitiveList>(library, step.threads);
  const BatchNorm bn = describe_bn(step);
  if (step.pass == Pass::backward_data) {
    add_backward(*list, bn, step.needs_input_gradient.at(0));
  } else {
    add_forward(*list, bn, step.pass == Pass::forward_train);
  }
  list->finish();
  return list;
}

}  // namespace trainyard::onednn
