#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/philox.h"
#include "case_check.h"
#include "tensor/dtype.h"

namespace trainyard::op_tests {
namespace {

std::size_t count_of(const Shape& shape) { return static_cast<std::size_t>(shape.elements()); }

void scale(Values& values, double factor, double offset = 0) {
  for (double& value : values) value = static_cast<float>(value * factor + offset);
}

/// A grid from -1 to 1 in the order of normal draws: no two values are equal.
Values draw_spread(std::uint64_t seed, std::uint32_t tensor, std::size_t count) {
  const Values keys = draw_normal(seed, tensor, count);
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return keys[a] < keys[b]; });
  Values values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[order[i]] =
        static_cast<float>((2.0 * static_cast<double>(i) + 1) / static_cast<double>(count) - 1);
  }
  return values;
}

/// Labels, or tokens, in [0, classes).
Values draw_labels(std::uint64_t seed, std::int64_t count, std::int64_t classes) {
  Values labels;
  for (std::int64_t n = 0; n < count; ++n) {
    const Random4 draw = random4(seed, RandomStream::synthetic, 99, 0, n);
    labels.push_back(static_cast<double>(draw.word[0] % classes));
  }
  return labels;
}

/// Another class of each sample, of every fourth none, and its share.
Values draw_mixed(const OpCase& op_case, std::uint64_t seed) {
  const Shape& values = op_case.inputs[0];
  Values mixed;
  for (std::int64_t n = 0; n < values.n(); ++n) {
    const Random4 draw = random4(seed, RandomStream::synthetic, 98, 0, n);
    const bool none = n % 4 == 3;
    const auto classes = static_cast<std::uint32_t>(std::max<std::int64_t>(values.c(), 2));
    mixed.push_back(none ? -1.0 : draw.word[0] % classes);
    mixed.push_back(none ? 0 : uniform01(draw.word[1]) / 2);
  }
  return mixed;
}

Values draw_input(const OpCase& op_case, std::uint64_t seed, std::size_t index) {
  if (op_case.types[index] == DType::i32) {
    const std::int64_t vocabulary = op_case.op->contract().vocabulary;
    return draw_labels(
        seed, op_case.inputs[index].elements(),
        vocabulary > 0 ? vocabulary : std::max<std::int64_t>(op_case.inputs[0].c(), 2));
  }
  if (op_case.is_mixed(index)) return draw_mixed(op_case, seed);
  const std::size_t count = count_of(op_case.inputs[index]);
  const auto tensor = static_cast<std::uint32_t>(index);
  if (op_case.values == InputValues::spread) return draw_spread(seed, tensor, count);
  Values values = draw_normal(seed, tensor, count);
  scale(values, op_case.values == InputValues::near_zero ? 1e-6 : 1);
  if (op_case.values == InputValues::positive) {
    for (double& value : values) value = static_cast<float>(0.1 + std::abs(value));
  }
  return values;
}

Values draw_parameter(const ParameterSpec& spec, std::uint64_t seed, std::uint32_t tensor) {
  Values values = draw_normal(seed, tensor, count_of(spec.shape));
  switch (spec.group) {
    case ParameterGroup::kernel:
      scale(values, 1 / std::sqrt(static_cast<double>(spec.fan_in)));
      break;
    case ParameterGroup::gamma:
      scale(values, 0.25, 1);
      break;
    default:
      scale(values, 0.5);
  }
  return values;
}

/// Labels are small whole numbers, exact in every type.
void round_to(DType storage, Values& values) {
  with_float_type(storage, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<Arithmetic<T>, float>) {
      for (double& value : values) value = static_cast<float>(T(static_cast<float>(value)));
    }
  });
}

}  // namespace

Values draw_normal(std::uint64_t seed, std::uint32_t tensor, std::size_t count) {
  Values values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Random4 draw = random4(seed, RandomStream::synthetic, tensor, 1, i);
    // Box and Muller 1958; 1 - u is never 0.
    const double radius = std::sqrt(-2 * std::log(1.0 - uniform01(draw.word[0])));
    values[i] =
        static_cast<float>(radius * std::cos(2 * std::numbers::pi * uniform01(draw.word[1])));
  }
  return values;
}

CaseValues draw_values(const OpCase& op_case, DType storage, std::uint64_t seed) {
  CaseValues values;
  for (std::size_t i = 0; i < op_case.inputs.size(); ++i) {
    values.inputs.push_back(draw_input(op_case, seed, i));
  }
  std::uint32_t tensor = 100;
  for (const ParameterSpec& spec : op_case.signature.parameters) {
    values.parameters.push_back(draw_parameter(spec, seed, tensor++));
  }
  for (const StatisticSpec& spec : op_case.signature.statistics) {
    Values drawn = draw_normal(seed, tensor++, count_of(spec.shape));
    if (spec.name == "running_var") {
      for (double& value : drawn) value = static_cast<float>(0.5 + std::abs(value));
    }
    values.running.push_back(std::move(drawn));
  }
  for (const Shape& shape : op_case.signature.outputs) {
    values.output_gradients.push_back(draw_normal(seed, tensor++, count_of(shape)));
  }
  for (auto* list : {&values.inputs, &values.parameters, &values.output_gradients}) {
    for (Values& tensor_values : *list) round_to(storage, tensor_values);
  }
  return values;
}

}  // namespace trainyard::op_tests
