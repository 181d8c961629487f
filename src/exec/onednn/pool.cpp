// Pooling, over windows or the whole map: oneDNN's, except for maxima of channel blocks.
#include "ops/pool.h"

#include <algorithm>
#include <vector>

#include "exec/functor/channels.h"
#include "exec/onednn/descriptors.h"
#include "exec/onednn/executors.h"

namespace trainyard::onednn {
namespace {

struct Pooling {
  Desc given_source, given_destination;  // in the plan's layouts
  Desc source, destination;              // in the primitives' layouts
  dnnl::algorithm algorithm = dnnl::algorithm::pooling_max;
  WindowDims window;
  std::vector<float> correction;  // [oh, ow] if the divisor is not the library's, else empty
};

/// If both sides have blocked channels, or one side's memory can be read so, the primitive works in
/// blocks: its generated code requires one kind of layout on both sides.
void choose_layouts(Pooling& pool, const Layout& input, const Layout& output) {
  const Shape in = shape_of(input);
  const Shape out{output.extent[0], output.extent[1], output.extent[2], output.extent[3]};
  const std::int64_t block = std::max(input.block, output.block);
  const auto work = [&](const Layout& have, const Shape& shape) {
    return block == 1 ? have : blocked_layout(shape, block);
  };
  const auto given = [](const Layout& have, const Layout& wanted) {
    return desc_of(same_memory(have, wanted) ? wanted : have);
  };
  const Layout source = work(input, in);
  const Layout destination = work(output, out);
  pool.source = desc_of(source);
  pool.destination = desc_of(destination);
  pool.given_source = given(input, source);
  pool.given_destination = given(output, destination);
}

/// Cells of the window at `position` that are inside the input or the declared padding.
std::int64_t counted_cells(std::int64_t position, std::int64_t size, std::int64_t stride,
                           std::int64_t before, std::int64_t input, std::int64_t after) {
  const std::int64_t first = position * stride - before;
  return std::min(first + size, input + after) - first;
}

/// oneDNN divides by the whole window even if ceil mode lets it extend beyond the declared padding,
/// where cells do not count (Caffe, PyTorch): the factors that correct this.
std::vector<float> corrections(const PoolOp::Geometry& window, const Shape& input) {
  std::vector<float> factors;
  const double whole = static_cast<double>(window.size.h * window.size.w);
  for (std::int64_t y = 0; y < window.output_h; ++y) {
    const std::int64_t height = counted_cells(y, window.size.h, window.stride.h, window.counted.top,
                                              input.h(), window.counted.bottom);
    for (std::int64_t x = 0; x < window.output_w; ++x) {
      const std::int64_t width = counted_cells(
          x, window.size.w, window.stride.w, window.counted.left, input.w(), window.counted.right);
      factors.push_back(static_cast<float>(whole / static_cast<double>(height * width)));
    }
  }
  const bool all_one = std::all_of(factors.begin(), factors.end(), [](float f) { return f == 1; });
  return all_one ? std::vector<float>{} : factors;
}

Pooling describe_pool(const StepDescription& step) {
  const auto& op = static_cast<const PoolOp&>(*step.op);
  const PoolAttributes& attributes = op.values();
  const Shape input = shape_of(step.inputs[0]);
  const PoolOp::Geometry window = op.geometry(input);
  Pooling pool;
  choose_layouts(pool, step.inputs[0], step.outputs[0]);
  pool.window = {.size = {window.size.h, window.size.w},
                 .stride = {window.stride.h, window.stride.w},
                 .dilation = {0, 0},
                 .before = {window.margins.top, window.margins.left},
                 .after = {window.margins.bottom, window.margins.right}};
  if (attributes.kind == PoolAttributes::Kind::average) {
    pool.algorithm = dnnl::algorithm::pooling_avg_exclude_padding;
    if (attributes.count_pad) {
      pool.algorithm = dnnl::algorithm::pooling_avg_include_padding;
      pool.correction = corrections(window, input);
    }
  }
  return pool;
}

/// memory *= factors, by image position.
void add_correction(PrimitiveList& list, const Pooling& pool, PrimitiveList::Memory from,
                    PrimitiveList::Memory to) {
  const Dims dims = dims_of(pool.destination);
  const Desc factors = plain_desc({1, 1, dims[2], dims[3]});
  const auto desc = multiplication(list.engine(), pool.destination, factors, pool.destination);
  TY_CHECK(desc, "oneDNN multiplies with factors by image position");
  const auto constant = list.constant(factors, pool.correction);
  list.add(desc, dnnl::binary(desc),
           {{DNNL_ARG_SRC_0, from}, {DNNL_ARG_SRC_1, constant}, {DNNL_ARG_DST, to}});
}

auto forward_desc(const PrimitiveList& list, const Pooling& pool, dnnl::prop_kind prop) {
  const auto desc = pooling_forward(list.engine(), prop, pool.algorithm, pool.source,
                                    pool.destination, pool.window);
  TY_CHECK(desc, "oneDNN pools every shape that inference lets pass");
  return desc;
}

void add_forward(PrimitiveList& list, const Pooling& pool, bool training) {
  const bool keeps_argmax = training && pool.algorithm == dnnl::algorithm::pooling_max;
  const auto desc = forward_desc(
      list, pool,
      keeps_argmax ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference);
  const auto source = list.read_as(Source::input, 0, pool.given_source, pool.source);
  const auto destination =
      list.write_as(Source::output, 0, pool.given_destination, pool.destination);
  PrimitiveList::Arguments arguments{{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, destination}};
  if (keeps_argmax) {
    arguments.emplace_back(DNNL_ARG_WORKSPACE, list.reserve(desc.workspace_desc()));
  }
  list.add(desc, dnnl::pooling_forward(desc), arguments);
  if (!pool.correction.empty()) add_correction(list, pool, destination, destination);
}

void add_backward(PrimitiveList& list, const Pooling& pool) {
  const auto forward = forward_desc(list, pool, dnnl::prop_kind::forward_training);
  const auto desc = pooling_backward(list.engine(), forward, pool.algorithm, pool.source,
                                     pool.destination, pool.window);
  TY_CHECK(desc, "oneDNN pools every shape that inference lets pass");
  auto gradient =
      list.read_as(Source::output_gradient, 0, pool.given_destination, pool.destination);
  if (!pool.correction.empty()) {
    const auto corrected = list.workspace(pool.destination);
    add_correction(list, pool, gradient, corrected);
    gradient = corrected;
  }
  const auto result = list.write_as(Source::input_gradient, 0, pool.given_source, pool.source);
  PrimitiveList::Arguments arguments{{DNNL_ARG_DIFF_DST, gradient}, {DNNL_ARG_DIFF_SRC, result}};
  if (pool.algorithm == dnnl::algorithm::pooling_max) {
    arguments.emplace_back(DNNL_ARG_WORKSPACE, list.reserve(forward.workspace_desc()));
  }
  list.add(desc, dnnl::pooling_backward(desc), arguments);
}

}  // namespace

/// In bf16 all is by functors: oneDNN rounds after every window that a gradient is a sum over.
std::unique_ptr<Executor> make_pool(const LibraryPtr& library, const StepDescription& step) {
  if (std::unique_ptr<Executor> own = make_max_pool(step)) return own;
  if (step.storage != DType::f32) return make_channel_executor(step);
  auto list = std::make_unique<PrimitiveList>(library, step.threads);
  const Pooling pool = describe_pool(step);
  if (step.pass == Pass::backward_data) {
    add_backward(*list, pool);
  } else {
    add_forward(*list, pool, step.pass == Pass::forward_train);
  }
  list->finish();
  return list;
}

}  // namespace trainyard::onednn
