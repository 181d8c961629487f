// Fully connected layers as inner products over plain tensors. In f32 weights are used unchanged,
// which costs nothing (matrix products take either side transposed) and saves a copy of them every
// step; in bf16 they are copied anyway, into the format that the implementation requires.
#include "ops/dense.h"

#include "exec/onednn/descriptors.h"
#include "exec/onednn/executors.h"

namespace trainyard::onednn {
namespace {

struct Dense {
  Desc given;                               // input in the plan's layout, four-dimensional
  Desc plain;                               // the same, row-major
  Desc source, weights, bias, destination;  // two-dimensional, row-major; weights and bias f32
  Desc factors;                             // the weights as they are multiplied
  bool has_bias = false;
};

Dense describe_dense(const StepDescription& step) {
  const DenseAttributes& dense = static_cast<const DenseOp&>(*step.op).values();
  const Layout input = matrix_layout(dense, step.inputs[0]);
  const Layout output = matrix_layout(dense, step.outputs[0]);
  const Shape shape = shape_of(input);
  const std::int64_t features = shape.c() * shape.h() * shape.w();
  const Layout row_major = plain_layout(shape);
  const DType type = step.storage;
  const Desc plain = desc_of(row_major, type);
  const Dims weights{dense.units, features};
  TY_CHECK(same_memory(output, plain_layout(shape_of(output))), "features are plain");
  return {.given = same_memory(input, row_major) ? plain : desc_of(input, type),
          .plain = plain,
          .source = plain_desc({shape.n(), features}, type),
          .weights = plain_desc(weights),
          .bias = dense.bias ? plain_desc({dense.units}) : Desc(),
          .destination = plain_desc({shape.n(), dense.units}, type),
          .factors = type == DType::f32 ? plain_desc(weights) : any_desc(weights, type),
          .has_bias = dense.bias};
}

auto forward_desc(const dnnl::engine& engine, const Dense& dense) {
  return inner_product_forward(engine, dense.source, dense.factors, dense.bias, dense.destination);
}

void add_forward(PrimitiveList& list, const Dense& dense) {
  const auto desc = forward_desc(list.engine(), dense);
  const auto source =
      list.view(list.read_as(Source::input, 0, dense.given, dense.plain), dense.source);
  const auto weights = list.read_as(Source::parameter, 0, dense.weights, desc.weights_desc());
  const auto destination = list.tensor(Source::output, 0, dense.destination);
  PrimitiveList::Arguments arguments{
      {DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, destination}};
  if (dense.has_bias) {
    arguments.emplace_back(DNNL_ARG_BIAS, list.tensor(Source::parameter, 1, dense.bias));
  }
  list.add(desc, dnnl::inner_product_forward(desc), arguments);
}

void add_backward_data(PrimitiveList& list, const Dense& dense) {
  const auto desc = inner_product_backward_data(list.engine(), forward_desc(list.engine(), dense),
                                                dense.source, dense.factors, dense.destination);
  const auto gradient = list.tensor(Source::output_gradient, 0, dense.destination);
  const auto weights = list.read_as(Source::parameter, 0, dense.weights, desc.weights_desc());
  const auto result =
      list.view(list.write_as(Source::input_gradient, 0, dense.given, dense.plain), dense.source);
  list.add(
      desc, dnnl::inner_product_backward_data(desc),
      {{DNNL_ARG_DIFF_DST, gradient}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DIFF_SRC, result}});
}

void add_backward_parameters(PrimitiveList& list, const Dense& dense) {
  const auto desc =
      inner_product_backward_weights(list.engine(), forward_desc(list.engine(), dense),
                                     dense.source, dense.weights, dense.bias, dense.destination);
  const auto source =
      list.view(list.read_as(Source::input, 0, dense.given, dense.plain), dense.source);
  const auto gradient = list.tensor(Source::output_gradient, 0, dense.destination);
  const auto weights = list.tensor(Source::parameter_gradient, 0, dense.weights);
  PrimitiveList::Arguments arguments{
      {DNNL_ARG_SRC, source}, {DNNL_ARG_DIFF_DST, gradient}, {DNNL_ARG_DIFF_WEIGHTS, weights}};
  if (dense.has_bias) {
    arguments.emplace_back(DNNL_ARG_DIFF_BIAS,
                           list.tensor(Source::parameter_gradient, 1, dense.bias));
  }
  list.add(desc, dnnl::inner_product_backward_weights(desc), arguments);
}

}  // namespace

std::unique_ptr<Executor> make_dense(const LibraryPtr& library, const StepDescription& step) {
  auto list = std::make_unique<PrimitiveList>(library, step.threads);
  const Dense dense = describe_dense(step);
  switch (step.pass) {
    case Pass::forward_train:
    case Pass::forward_eval:
      add_forward(*list, dense);
      break;
    case Pass::backward_data:
      add_backward_data(*list, dense);
      break;
    case Pass::backward_parameters:
      add_backward_parameters(*list, dense);
      break;
  }
  list->finish();
  return list;
}

}  // namespace trainyard::onednn
