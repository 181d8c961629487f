#include "tolerance.h"

#include <algorithm>
#include <cmath>

#include "ops/bn.h"
#include "ops/convolution.h"
#include "ops/dense.h"
#include "ops/pool.h"
#include "ops/recurrent.h"

namespace trainyard::op_tests {
namespace {

/// Number of terms in the sums for one element.
struct Terms {
  double output = 1, input_gradient = 1, parameter_gradient = 1;
};

Terms terms_of(const OpCase& op_case) {
  const Shape& in = op_case.inputs[0];
  const Shape& out = op_case.signature.outputs[0];
  const auto real = [](std::int64_t n) { return static_cast<double>(n); };
  if (const auto* conv = dynamic_cast<const ConvolutionOp*>(op_case.op.get())) {
    const auto pixels = [](const Shape& maps) { return maps.n() * maps.h() * maps.w(); };
    const bool transposed = conv->transposed();
    const double window = real(conv->values().kernel.h * conv->values().kernel.w);
    const double groups = real(conv->values().groups);
    return {window * real(in.c()) / groups + 1, window * real(out.c()) / groups,
            real(transposed ? std::max(pixels(in), pixels(out)) : pixels(out))};
  }
  if (const auto* dense = dynamic_cast<const DenseOp*>(op_case.op.get())) {
    const std::int64_t rows = in.n() * (dense->values().per_position ? in.w() : 1);
    return {real(in.elements() / rows) + 1, real(out.c()), real(rows)};
  }
  if (op_case.op->contract().vocabulary > 0) return {1, 1, real(in.elements())};
  if (const auto* pool = dynamic_cast<const PoolOp*>(op_case.op.get())) {
    const config::Pair size = pool->geometry(in).size;
    return {real(size.h * size.w), real(size.h * size.w), 1};
  }
  if (dynamic_cast<const BnOp*>(op_case.op.get()) != nullptr) {
    const double count = real(in.n() * in.h() * in.w());
    return {count, count, count};
  }
  if (const auto* recurrent = dynamic_cast<const RecurrentOp*>(op_case.op.get())) {
    const double units = real(recurrent->values().units);
    const double width = units * real(recurrent->gates());
    return {real(in.c()) + units + 1, width, real(in.n() * in.w())};
  }
  const double pixels = real(in.n() * in.h() * in.w());  // parameters per channel sum over them
  return {real(in.c()), real(in.c()), pixels};           // softmax and losses sum over channels
}

bool is_linear(const OpCase& op_case) {
  const std::string_view type = op_case.op->type();
  return type == "conv" || type == "conv_transpose" || type == "dense" || type == "avg_pool" ||
         type == "global_avg_pool";
}

Values absolute(Values values) {
  for (double& value : values) value = std::abs(value);
  return values;
}

CaseResults run_on_absolutes(const OpCase& op_case, const CaseValues& values) {
  CaseValues absolutes = values;
  for (auto* list : {&absolutes.inputs, &absolutes.parameters, &absolutes.output_gradients}) {
    for (Values& tensor : *list) tensor = absolute(tensor);
  }
  const auto factory = make_reference_executors();
  BoundCase bound(op_case, *factory, {});
  bound.load(absolutes);
  bound.forward();
  bound.evaluate();
  bound.backward();
  return bound.results();
}

double largest(const Values& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

/// How a type rounds.
struct Rounding {
  double unit;   // half an ulp of 1
  double least;  // half the smallest number above 0
};

Rounding rounding_of(DType type) {
  switch (type) {
    case DType::f64:
      return {1.1e-16, 0};
    case DType::f16:
      return {0x1p-11, 0x1p-25};
    case DType::bf16:
      return {0x1p-8, 0x1p-134};
    default:
      return {6e-8, 0};
  }
}

/// 6 sqrt(n) units times the size of each tensor.
std::vector<double> bounds(const std::vector<Values>& sizes, double terms, double unit,
                           double least) {
  std::vector<double> all;
  for (const Values& size : sizes) {
    all.push_back(6 * std::sqrt(terms) * unit * std::max(least, largest(size)));
  }
  return all;
}

/// Adds the rounding from storing the tensors in 16 bits.
void add_storage(std::vector<double>& bounds, const std::vector<Values>& sizes, double roundings,
                 const Rounding& rounding, double least) {
  for (std::size_t t = 0; t < bounds.size(); ++t) {
    const double size = std::max(least, largest(sizes[t]));
    bounds[t] += roundings * (rounding.unit * size + rounding.least);
  }
}

}  // namespace

Tolerances tolerances(const OpCase& op_case, const CaseValues& values, const CaseResults& reference,
                      DType type, double extra) {
  const double eps = rounding_of(arithmetic_of(type)).unit * op_case.conditioning;
  const Terms terms = terms_of(op_case);
  const bool linear = is_linear(op_case);
  const CaseResults sizes = linear ? run_on_absolutes(op_case, values) : reference;
  const bool near_zero = op_case.values == InputValues::near_zero;
  const double least = linear || near_zero ? 0 : 1;
  Tolerances allowed{bounds(sizes.outputs, terms.output, eps, least),
                     bounds(sizes.statistics, terms.output, eps, least),
                     bounds(sizes.evaluated, terms.output, eps, least),
                     bounds(sizes.input_gradients, terms.input_gradient, eps, least),
                     bounds(sizes.parameter_gradients, terms.parameter_gradient, eps, least)};
  if (type == arithmetic_of(type)) return allowed;
  const Contract contract = op_case.op->contract();
  const Rounding storage = rounding_of(type);
  // Every step of a recurrent layer reads states, and backward gradients, that were rounded.
  const bool recurrent = dynamic_cast<const RecurrentOp*>(op_case.op.get()) != nullptr;
  const double inner = recurrent ? 2 * static_cast<double>(op_case.inputs[0].w()) : 0;
  const double steps = static_cast<double>(op_case.inputs.size()) + extra + inner;
  if (!contract.arithmetic_outputs) {
    add_storage(allowed.outputs, sizes.outputs, steps, storage, least);
    add_storage(allowed.evaluated, sizes.evaluated, steps, storage, least);
  }
  const double of_outputs = contract.backward_reads_outputs
                                ? 6 * std::sqrt(terms.input_gradient) * op_case.conditioning
                                : 0;
  add_storage(allowed.input_gradients, sizes.input_gradients, steps + of_outputs, storage, least);
  add_storage(allowed.parameter_gradients, sizes.parameter_gradients, extra + inner, storage,
              least);
  return allowed;
}

}  // namespace trainyard::op_tests
