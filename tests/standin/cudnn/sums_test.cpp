// Convolutions of the stand-in are bit-identical to the reference device's.
#include <doctest/doctest.h>

#include <cmath>

#include "base/philox.h"
#include "ops/convolution.h"
#include "plan_run.h"
#include "tensor/dtype.h"

using namespace standin_tests;
using namespace trainyard;
using namespace trainyard::cudnn;

namespace {

using Computes = ConvGraph::Computes;

/// Channels are padded to 16 bytes, as in a GPU's plan.
Layout map_layout(const Shape& shape, DType type) {
  return channels_last_layout(shape, 16 / static_cast<std::int64_t>(size_of(type)));
}

/// Uniform in [-1, 1), from a different stream for each `kind`.
float random_value(std::uint32_t kind, std::int64_t i) {
  const Random4 random = random4(kind, RandomStream::synthetic, 0, 0, i);
  return static_cast<float>(uniform01(random.word[0]) * 2 - 1);
}

float read(const std::vector<std::byte>& bytes, DType type, std::int64_t at) {
  return with_float_type(type, [&]<class T>(std::type_identity<T>) {
    return static_cast<float>(reinterpret_cast<const T*>(bytes.data())[at]);
  });
}
void write(std::vector<std::byte>& bytes, DType type, std::int64_t at, float value) {
  with_float_type(type, [&]<class T>(std::type_identity<T>) {
    if constexpr (!std::is_same_v<T, double>) reinterpret_cast<T*>(bytes.data())[at] = T(value);
  });
}

/// f(i, at) for each element that is not padding: its row-major index, and its offset.
template <class F>
void for_each(const Shape& shape, const std::array<std::int64_t, 4>& strides, const F& f) {
  std::int64_t i = 0;
  for (std::int64_t n = 0; n < shape.n(); ++n) {
    for (std::int64_t c = 0; c < shape.c(); ++c) {
      for (std::int64_t h = 0; h < shape.h(); ++h) {
        for (std::int64_t w = 0; w < shape.w(); ++w) {
          f(i++, n * strides[0] + c * strides[1] + h * strides[2] + w * strides[3]);
        }
      }
    }
  }
}

/// One convolution in one type and one pass, on both devices.
class Twin {
 public:
  Twin(const ConvAttributes& attributes, const Shape& input, DType type, Pass pass,
       bool adds = false)
      : op_(attributes), type_(type), pass_(pass) {
    step_ = {.op = &op_,
             .pass = pass,
             .storage = type,
             .signature = op_.infer(std::span(&input, 1)),
             .inputs = {map_layout(input, type)},
             .needs_input_gradient = {true},
             .form = {.adds_gradient = adds}};
    step_.outputs = {map_layout(step_.signature.outputs[0], type)};
    graph_ = conv_graph(step_);
    if (attributes.bias) graph_ = with_bias(graph_);
    fill();
  }
  [[nodiscard]] const ConvGraph& graph() const { return graph_; }

  /// The result of the stand-in, by this engine.
  [[nodiscard]] std::vector<float> of_stand_in(std::int64_t engine,
                                               std::vector<Knob> knobs = {}) const {
    const HostTensors found = run_plan(plan_of(graph_, engine, std::move(knobs)), on_gpu_);
    switch (graph_.computes) {
      case Computes::output:
        return values(found.output, step_.signature.outputs[0], graph_.output.strides);
      case Computes::input_gradient:
        return values(found.input, shape_of(step_.inputs[0]), graph_.input.strides);
      default:
        return values(found.weight, step_.signature.parameters[0].shape, graph_.weight.strides);
    }
  }
  /// The reference device's, with weight gradients rounded to the type.
  [[nodiscard]] std::vector<float> of_reference() {
    const auto executor = make_reference_executors()->make(step_);
    std::vector<std::byte> workspace(executor->workspace_bytes() + 1);
    StepTensors tensors{.workspace = workspace.data()};
    HostTensors held = on_gpu_;
    const TensorView input{held.input.data(), type_, step_.inputs[0]};
    const TensorView output{held.output.data(), type_, step_.outputs[0]};
    const auto plain = [](std::vector<float>& of, const Shape& shape) {
      return TensorView{of.data(), DType::f32, plain_layout(shape)};
    };
    std::vector<TensorView> parameters;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      parameters.push_back(plain(parameters_[i], step_.signature.parameters[i].shape));
    }
    tensors.inputs = tensors.input_gradients = {input};
    tensors.outputs = tensors.output_gradients = {output};
    tensors.parameters = tensors.parameter_gradients = parameters;
    executor->bind(tensors);
    executor->run();
    switch (graph_.computes) {
      case Computes::output:
        return values(held.output, step_.signature.outputs[0], graph_.output.strides);
      case Computes::input_gradient:
        return values(held.input, shape_of(step_.inputs[0]), graph_.input.strides);
      default:
        return rounded(parameters_[0]);
    }
  }

 private:
  void fill() {
    on_gpu_ = tensors_of(graph_);
    for (auto* tensor : {&on_gpu_.input, &on_gpu_.weight, &on_gpu_.output}) {
      std::ranges::fill(*tensor, std::byte{0});
    }
    const auto fill_map = [this](std::vector<std::byte>& bytes, const Shape& shape,
                                 const auto& strides, std::uint32_t kind) {
      for_each(shape, strides, [&](std::int64_t i, std::int64_t at) {
        write(bytes, type_, at, random_value(kind, i));
      });
    };
    fill_map(on_gpu_.input, shape_of(step_.inputs[0]), graph_.input.strides, 1);
    fill_map(on_gpu_.output, step_.signature.outputs[0], graph_.output.strides, 2);
    for (const ParameterSpec& parameter : step_.signature.parameters) {
      auto& of = parameters_.emplace_back(static_cast<std::size_t>(parameter.shape.elements()));
      for (std::size_t i = 0; i < of.size(); ++i) {
        of[i] = random_value(3, static_cast<std::int64_t>(i));
      }
    }
    for_each(step_.signature.parameters[0].shape, graph_.weight.strides,
             [&](std::int64_t i, std::int64_t at) {
               write(on_gpu_.weight, type_, at, parameters_[0][static_cast<std::size_t>(i)]);
             });
    if (parameters_.size() < 2) return;
    parameters_[1] = rounded(parameters_[1]);  // as an engine takes the bias
    for (std::size_t i = 0; i < parameters_[1].size(); ++i) {
      write(on_gpu_.bias, type_, static_cast<std::int64_t>(i), parameters_[1][i]);
    }
  }
  [[nodiscard]] std::vector<float> values(const std::vector<std::byte>& bytes, const Shape& shape,
                                          const std::array<std::int64_t, 4>& strides) const {
    std::vector<float> out(static_cast<std::size_t>(shape.elements()));
    for_each(shape, strides, [&](std::int64_t i, std::int64_t at) {
      out[static_cast<std::size_t>(i)] = read(bytes, type_, at);
    });
    return out;
  }
  [[nodiscard]] std::vector<float> rounded(const std::vector<float>& from) const {
    std::vector<std::byte> bytes(from.size() * size_of(type_));
    std::vector<float> out(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      write(bytes, type_, static_cast<std::int64_t>(i), from[i]);
      out[i] = read(bytes, type_, static_cast<std::int64_t>(i));
    }
    return out;
  }

  ConvOp op_;
  DType type_;
  Pass pass_;
  StepDescription step_;
  ConvGraph graph_;
  std::vector<std::vector<float>> parameters_;
  HostTensors on_gpu_;
};

struct Case {
  const char* name;
  ConvAttributes attributes;
  Shape input;
};

ConvAttributes conv(std::int64_t filters, config::Pair kernel, Padding::Kind padding) {
  ConvAttributes attributes;
  attributes.filters = filters;
  attributes.kernel = kernel;
  attributes.pad.kind = padding;
  attributes.bias = false;
  return attributes;
}

std::vector<Case> cases() {
  std::vector<Case> all{
      {"same", conv(8, {3, 3}, Padding::Kind::same_upper), {2, 8, 6, 5}},
      {"padded channels", conv(5, {3, 3}, Padding::Kind::valid), {3, 3, 6, 6}},
      {"one pixel", conv(1, {1, 1}, Padding::Kind::valid), {1, 1, 1, 1}},
      {"odd pixel after", conv(8, {2, 2}, Padding::Kind::same_upper), {2, 4, 5, 5}},
      {"odd pixel before", conv(8, {2, 2}, Padding::Kind::same_lower), {2, 4, 5, 5}},
      {"padding is all", conv(4, {2, 2}, Padding::Kind::same_upper), {2, 4, 1, 1}}};
  all.push_back({"stride", conv(8, {3, 3}, Padding::Kind::same_upper), {2, 8, 7, 8}});
  all.back().attributes.stride = {2, 2};
  all.push_back({"dilation", conv(4, {2, 3}, Padding::Kind::same_upper), {2, 4, 9, 9}});
  all.back().attributes.dilation = {3, 2};
  all.back().attributes.stride = {1, 3};
  all.push_back({"groups", conv(6, {3, 3}, Padding::Kind::same_upper), {2, 4, 5, 6}});
  all.back().attributes.groups = 2;
  all.push_back({"depthwise", conv(10, {3, 3}, Padding::Kind::valid), {2, 5, 4, 4}});
  all.back().attributes.groups = 5;
  return all;
}

constexpr DType kTypes[] = {DType::f32, DType::bf16, DType::f16};
constexpr Pass kPasses[] = {Pass::forward_train, Pass::backward_data, Pass::backward_parameters};

}  // namespace

TEST_CASE("engines are bit-identical to the reference device in each type and pass") {
  for (const Case& each : cases()) {
    for (const DType type : kTypes) {
      for (const Pass pass : kPasses) {
        CAPTURE(each.name);
        CAPTURE(name_of(type));
        Twin twin(each.attributes, each.input, type, pass);
        CAPTURE(text_of(twin.graph()));
        const std::vector<float> plain = twin.of_stand_in(0);
        const std::vector<float> unfolded = twin.of_stand_in(1, {{CUDNN_KNOB_TYPE_STAGES, 3}});
        const std::vector<float> expected = twin.of_reference();
        CHECK(plain == expected);
        CHECK(unfolded == expected);
      }
    }
  }
}

TEST_CASE("a gradient that is added to another is rounded once, as on the reference device") {
  for (const Case& each : cases()) {
    for (const DType type : kTypes) {
      CAPTURE(each.name);
      CAPTURE(name_of(type));
      Twin alone(each.attributes, each.input, type, Pass::backward_data);
      Twin twin(each.attributes, each.input, type, Pass::backward_data, true);
      const std::vector<float> sums = twin.of_stand_in(0), gradient = alone.of_stand_in(0);
      CHECK(sums == twin.of_reference());
      CHECK(sums == twin.of_stand_in(1, {{CUDNN_KNOB_TYPE_STAGES, 3}}));
      for (std::size_t i = 0; i < sums.size(); ++i) {
        const float expected = gradient[i] + random_value(1, static_cast<std::int64_t>(i));
        // Values are below 100: one rounding of 16 bits more, or the rounding of what was there.
        REQUIRE(std::abs(sums[i] - expected) <= (type == DType::f32 ? 0.0f : 100 * 0x1p-7f));
      }
    }
  }
}

TEST_CASE("sums start with a bias, as on the reference device") {
  ConvAttributes attributes = conv(8, {3, 3}, Padding::Kind::same_upper);
  attributes.bias = true;
  for (const DType type : kTypes) {
    CAPTURE(name_of(type));
    Twin twin(attributes, {2, 8, 5, 5}, type, Pass::forward_train);
    const std::vector<float> found = twin.of_stand_in(8);
    CHECK(found == twin.of_reference());
  }
}

TEST_CASE("tensor cores are bit-identical for 16 bits, and round f32 to TF32") {
  const ConvAttributes attributes = conv(8, {3, 3}, Padding::Kind::same_upper);
  for (const DType type : kTypes) {
    CAPTURE(name_of(type));
    Twin twin(attributes, {2, 8, 5, 5}, type, Pass::forward_train);
    const bool same = twin.of_stand_in(3) == twin.of_stand_in(0);
    CHECK(same == (type != DType::f32));
  }
}

TEST_CASE("factors converted to a smaller type give different f32 results") {
  Twin twin(conv(8, {3, 3}, Padding::Kind::same_upper), {2, 8, 5, 5}, DType::f32,
            Pass::backward_data);
  CHECK(twin.of_stand_in(4) != twin.of_stand_in(3));
  CHECK(twin.of_stand_in(4) != twin.of_stand_in(0));
}
