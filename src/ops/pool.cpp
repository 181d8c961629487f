#include "ops/pool.h"

#include <fmt/format.h>

#include <optional>

#include "base/text.h"
#include "ops/expect.h"

namespace trainyard {
namespace {

using PoolKind = PoolAttributes::Kind;

/// A window must extend past the padding, or it would see only padding.
void require_padding_below_window(const Padding& pad, const config::Pair& size) {
  if (pad.kind != Padding::Kind::pixels) return;
  if (pad.amount.h < size.h && pad.amount.w < size.w) return;
  throw ShapeError(fmt::format("padding {} must be smaller than the window {}", text_of(pad.amount),
                               text_of(size)));
}

void declare_pool(config::Fields& fields, PoolAttributes& pool) {
  const bool average = pool.kind == PoolKind::average;
  const config::Profile profile = fields.profile();
  const bool stepwise = profile == config::Profile::mxnet || profile == config::Profile::caffe;
  pool.ceil = profile == config::Profile::caffe;
  std::optional<config::Pair> stride;
  fields.field("size", pool.size, "size of the window; one number or [h, w]",
               {.minimum = 1, .maximum = kLargestWindow});
  fields.field("stride", stride,
               stepwise ? "step of the window, by default 1; one number or [h, w]"
                        : "step of the window, by default its size; one number or [h, w]",
               {.minimum = 1, .maximum = kLargestWindow});
  declare_padding(fields, "pad", pool.pad,
                  "pixels, [h, w], valid, same_upper, same_lower or same_symmetric");
  fields.field("ceil", pool.ceil, "round the output size up (Caffe, MXNet-full)");
  if (average) {
    pool.count_pad = profile != config::Profile::keras2;
    fields.field("count_pad", pool.count_pad, "count padding in the divisor (Caffe, MXNet, torch)");
  }
  if (pool.kind == PoolKind::power) {
    fields.field("p", pool.p, "exponent of the sum of powers", {.minimum = 1});
  }
  pool.stride = stride.value_or(stepwise ? config::Pair{1, 1} : pool.size);
}

template <PoolKind kind, bool global>
OpPtr read_pool(config::Fields& fields) {
  PoolAttributes attributes;
  attributes.kind = kind;
  attributes.global = global;
  if (!global) declare_pool(fields, attributes);
  return std::make_unique<PoolOp>(attributes);
}

}  // namespace

PoolOp::Geometry PoolOp::geometry(const Shape& input) const {
  if (values().global) {
    return {.size = {input.h(), input.w()}, .stride = {1, 1}, .margins = {}, .counted = {}};
  }
  config::Pair stride = values().stride;
  if (stride.h == 0) stride.h = values().size.h;
  if (stride.w == 0) stride.w = values().size.w;
  const WindowSplit plan =
      plan_window(input, {values().size, stride, {1, 1}}, values().pad, values().ceil);
  Margins counted = plan.margins();
  counted.bottom = plan.h.written_after;
  counted.right = plan.w.written_after;
  return {values().size, stride, plan.margins(), counted, plan.h.output, plan.w.output};
}

std::string_view PoolOp::type() const {
  if (values().kind == PoolKind::power) return "lp_pool";
  if (values().kind == PoolKind::max) return values().global ? "global_max_pool" : "max_pool";
  return values().global ? "global_avg_pool" : "avg_pool";
}

Signature PoolOp::infer(std::span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  require_images(input);
  require_padding_below_window(values().pad, values().size);
  const Geometry window = geometry(input);
  Signature signature;
  if (values().global) {
    signature.outputs = {{input.n(), input.c()}};
  } else {
    signature.outputs = {{input.n(), input.c(), window.output_h, window.output_w}};
  }
  if (values().kind == PoolKind::max) {  // position of each maximum
    signature.saved_bytes = size_product({signature.outputs[0].elements(), sizeof(std::int32_t)});
  }
  return signature;
}

Contract PoolOp::contract() const {
  const bool power = values().kind == PoolKind::power;
  return {.backward_reads_inputs = power,
          .backward_reads_outputs = power,
          .can = {Can::write_slices},
          .layouts = Contract::Layouts::any};
}

std::string PoolOp::attributes() const {
  const PoolAttributes& pool = values();
  if (pool.global) return "{}";
  const config::Pair stride{pool.stride.h == 0 ? pool.size.h : pool.stride.h,
                            pool.stride.w == 0 ? pool.size.w : pool.stride.w};
  std::string out = fmt::format("{{size: {}, stride: {}, pad: {}, ceil: {}", text_of(pool.size),
                                text_of(stride), text_of(pool.pad), pool.ceil);
  if (pool.kind == PoolKind::average) out += fmt::format(", count_pad: {}", pool.count_pad);
  if (pool.kind == PoolKind::power) out += ", p: " + number_text(pool.p);
  return out + "}";
}

std::span<const config::Kind<Op>> pool_kinds() {
  static const config::Kind<Op> kinds[] = {
      {"max_pool", "largest value under a window", &read_pool<PoolKind::max, false>},
      {"avg_pool", "mean of the values under a window", &read_pool<PoolKind::average, false>},
      {"global_max_pool", "largest value of each channel; images to features",
       &read_pool<PoolKind::max, true>},
      {"global_avg_pool", "mean of each channel; images to features",
       &read_pool<PoolKind::average, true>},
      {"lp_pool", "root of the sum of powers under a window", &read_pool<PoolKind::power, false>},
  };
  return kinds;
}

}  // namespace trainyard
