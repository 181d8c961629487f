// Activations: y = f(x), one element at a time.
//
// To add one: a struct here with its value and gradient, and one entry in the list at the end.
// Softmax, and prelu with a learned slope.
#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "base/math.h"
#include "ops/affine.h"
#include "ops/op.h"

namespace trainyard {

// Each function declares its name and help, whether zero gives zero, and whether its gradient is a
// function of the output (the input need not be kept) or of the input. `gradient(dy, kept)` is dy *
// f'(x).

/// y = max(x, 0); NaN stays NaN.
struct Relu {
  static constexpr std::string_view kName = "relu", kHelp = "max(x, 0)";
  static constexpr bool kKeepsZero = true, kReadsOutput = true;
  template <class T>
  TY_HD T value(T x) const {
    return x < 0 ? T(0) : x;
  }
  template <class T>
  TY_HD T gradient(T dy, T y) const {
    return y > 0 ? dy : T(0);
  }
};

/// y = min(max(x, 0), 6); NaN stays NaN (MobileNet).
struct Relu6 {
  static constexpr std::string_view kName = "relu6", kHelp = "x cut to [0, 6]";
  static constexpr bool kKeepsZero = true, kReadsOutput = true;
  template <class T>
  TY_HD T value(T x) const {
    const T above = x < 0 ? T(0) : x;
    return above > 6 ? T(6) : above;
  }
  template <class T>
  TY_HD T gradient(T dy, T y) const {
    return y > 0 && y < 6 ? dy : T(0);
  }
};

/// y = factor * x.
struct ScaleBy {
  static constexpr std::string_view kName = "scale_by", kHelp = "factor * x";
  static constexpr bool kKeepsZero = true, kReadsOutput = true;
  double factor = 1;
  template <class T>
  TY_HD T value(T x) const {
    return static_cast<T>(factor) * x;
  }
  template <class T>
  TY_HD T gradient(T dy, T /*y*/) const {
    return static_cast<T>(factor) * dy;
  }
};

/// y = x for x >= 0, else slope * x.
struct LeakyRelu {
  static constexpr std::string_view kName = "leaky_relu", kHelp = "x, or slope * x below 0";
  static constexpr bool kKeepsZero = true, kReadsOutput = true;
  double slope = 0.3;  // at least 0, so that the output's sign is the input's
  template <class T>
  TY_HD T value(T x) const {
    const T below = static_cast<T>(slope) * x;
    return x < 0 ? below : x;
  }
  template <class T>
  TY_HD T gradient(T dy, T y) const {
    const T below = static_cast<T>(slope) * dy;
    return y > 0 ? dy : below;
  }
};

/// y = x for x > 0, else alpha * (e^x - 1) (Clevert et al. 2016).
struct Elu {
  static constexpr std::string_view kName = "elu", kHelp = "x, or alpha * (e^x - 1) below 0";
  static constexpr bool kKeepsZero = true, kReadsOutput = true;
  double alpha = 1;  // above 0, so that the output's sign is the input's
  template <class T>
  TY_HD T value(T x) const {
    const T below = static_cast<T>(alpha) * math::expm1(x);
    return x > 0 ? x : below;
  }
  template <class T>
  TY_HD T gradient(T dy, T y) const {
    const T below = dy * (y + static_cast<T>(alpha));
    return y > 0 ? dy : below;
  }
};

/// y = scale * elu(x, alpha) with the constants of Klambauer et al. 2017, equation 14.
struct Selu {
  static constexpr std::string_view kName = "selu", kHelp = "self-normalising elu";
  static constexpr bool kKeepsZero = true, kReadsOutput = true;
  static constexpr double kAlpha = 1.6732632423543772848, kScale = 1.0507009873554804934;
  template <class T>
  TY_HD T value(T x) const {
    const T below = static_cast<T>(kScale * kAlpha) * math::expm1(x);
    const T above = static_cast<T>(kScale) * x;
    return x > 0 ? above : below;
  }
  template <class T>
  TY_HD T gradient(T dy, T y) const {
    const T below = dy * (y + static_cast<T>(kScale * kAlpha));
    const T above = dy * static_cast<T>(kScale);
    return y > 0 ? above : below;
  }
};

/// y = x * P(X <= x) for a standard normal X, in the exact form (Hendrycks and Gimpel 2016).
struct Gelu {
  static constexpr std::string_view kName = "gelu", kHelp = "x * (1 + erf(x / sqrt(2))) / 2";
  static constexpr bool kKeepsZero = true, kReadsOutput = false;
  template <class T>
  TY_HD T below(T x) const {
    return T(0.5) + T(0.5) * math::erf(x * static_cast<T>(0.70710678118654752440));
  }
  template <class T>
  TY_HD T value(T x) const {
    return x * below(x);
  }
  template <class T>
  TY_HD T gradient(T dy, T x) const {
    const T density = static_cast<T>(0.39894228040143267794) * math::exp(T(-0.5) * x * x);
    return dy * (below(x) + x * density);
  }
};

/// y = 1 / (1 + e^-x).
struct Sigmoid {
  static constexpr std::string_view kName = "sigmoid", kHelp = "1 / (1 + e^-x)";
  static constexpr bool kKeepsZero = false, kReadsOutput = true;
  template <class T>
  TY_HD T value(T x) const {
    return T(1) / (T(1) + math::exp(-x));
  }
  template <class T>
  TY_HD T gradient(T dy, T y) const {
    return dy * (y * (T(1) - y));
  }
};

/// y = x * sigmoid(x) (Ramachandran et al. 2017 with beta = 1; also SiLU).
struct Swish {
  static constexpr std::string_view kName = "swish", kHelp = "x * sigmoid(x)";
  static constexpr bool kKeepsZero = true, kReadsOutput = false;
  template <class T>
  TY_HD T value(T x) const {
    return x * Sigmoid{}.value(x);
  }
  template <class T>
  TY_HD T gradient(T dy, T x) const {
    const T s = Sigmoid{}.value(x);
    return dy * (s + x * (s * (T(1) - s)));
  }
};

/// y = min(max(slope * x + 0.5, 0), 1); NaN stays NaN. Keras has 0.2, PyTorch 1/6.
struct HardSigmoid {
  static constexpr std::string_view kName = "hard_sigmoid";
  static constexpr std::string_view kHelp = "slope * x + 0.5 cut to [0, 1]";
  static constexpr bool kKeepsZero = false, kReadsOutput = true;
  double slope = 0.2;
  template <class T>
  TY_HD T value(T x) const {
    const T line = static_cast<T>(slope) * x + T(0.5);
    const T above = line < 0 ? T(0) : line;
    return above > 1 ? T(1) : above;
  }
  template <class T>
  TY_HD T gradient(T dy, T y) const {
    const T inside = static_cast<T>(slope) * dy;
    return y > 0 && y < 1 ? inside : T(0);
  }
};

/// y = x * min(max(x / 6 + 1/2, 0), 1) (Howard et al. 2019). The gradient at the corners -3 and 3
/// is that of the outer pieces, as in PyTorch.
struct HardSwish {
  static constexpr std::string_view kName = "hard_swish";
  static constexpr std::string_view kHelp = "x * (x / 6 + 1/2 cut to [0, 1])";
  static constexpr bool kKeepsZero = true, kReadsOutput = false;
  template <class T>
  TY_HD T value(T x) const {
    return x * HardSigmoid{1.0 / 6}.value(x);
  }
  template <class T>
  TY_HD T gradient(T dy, T x) const {
    const T inside = dy * (x * static_cast<T>(1.0 / 3) + T(0.5));
    const T above = x < 3 ? inside : dy;
    return x <= -3 ? T(0) : above;
  }
};

/// Hyperbolic tangent.
struct Tanh {
  static constexpr std::string_view kName = "tanh", kHelp = "hyperbolic tangent";
  static constexpr bool kKeepsZero = true, kReadsOutput = true;
  template <class T>
  TY_HD T value(T x) const {
    return math::tanh(x);
  }
  template <class T>
  TY_HD T gradient(T dy, T y) const {
    return dy * ((T(1) - y) * (T(1) + y));
  }
};

/// y = log(1 + e^x). The gradient is sigmoid(x) = 1 - e^-y.
struct Softplus {
  static constexpr std::string_view kName = "softplus", kHelp = "log(1 + e^x)";
  static constexpr bool kKeepsZero = false, kReadsOutput = true;
  template <class T>
  TY_HD T value(T x) const {
    const T tail = math::log1p(math::exp(-math::abs(x)));
    return (x > 0 ? x : T(0)) + tail;
  }
  template <class T>
  TY_HD T gradient(T dy, T y) const {
    return dy * -math::expm1(-y);
  }
};

/// y = x / (1 + |x|). The gradient is 1 / (1 + |x|)^2.
struct Softsign {
  static constexpr std::string_view kName = "softsign", kHelp = "x / (1 + |x|)";
  static constexpr bool kKeepsZero = true, kReadsOutput = false;
  template <class T>
  TY_HD T value(T x) const {
    return x / (T(1) + math::abs(x));
  }
  template <class T>
  TY_HD T gradient(T dy, T x) const {
    const T below = T(1) + math::abs(x);
    return dy / (below * below);
  }
};

/// y = x * tanh(softplus(x)) (Misra 2019).
struct Mish {
  static constexpr std::string_view kName = "mish", kHelp = "x * tanh(log(1 + e^x))";
  static constexpr bool kKeepsZero = true, kReadsOutput = false;
  template <class T>
  TY_HD T factor(T x) const {
    return math::tanh(Softplus{}.value(x));
  }
  template <class T>
  TY_HD T value(T x) const {
    return x * factor(x);
  }
  template <class T>
  TY_HD T gradient(T dy, T x) const {
    const T t = factor(x);
    return dy * (t + x * (Sigmoid{}.value(x) * ((T(1) - t) * (T(1) + t))));
  }
};

/// y = x. The planner aliases it away; the functor is used without a planner.
struct Identity {
  static constexpr std::string_view kName = "identity", kHelp = "the input itself";
  static constexpr bool kKeepsZero = true, kReadsOutput = true;
  template <class T>
  TY_HD T value(T x) const {
    return x;
  }
  template <class T>
  TY_HD T gradient(T dy, T) const {
    return dy;
  }
};

void declare(config::Fields& fields, LeakyRelu& leaky_relu);

void declare(config::Fields& fields, Elu& elu);

void declare(config::Fields& fields, HardSigmoid& hard_sigmoid);

void declare(config::Fields& fields, ScaleBy& scale_by);

/// The attributes as YAML flow text; functions without attributes need no overload.
[[nodiscard]] std::string text_of(const LeakyRelu& leaky_relu);

[[nodiscard]] std::string text_of(const Elu& elu);

[[nodiscard]] std::string text_of(const ScaleBy& scale_by);

/// Nothing for the default slope: the plans of existing runs keep their text.
[[nodiscard]] std::string text_of(const HardSigmoid& hard_sigmoid);

/// Any shape to the same shape.
template <class Function>
class ActivationOp final : public Op {
 public:
  explicit ActivationOp(Function function) : function_(function) {}
  [[nodiscard]] const Function& values() const { return function_; }
  [[nodiscard]] std::string_view type() const override { return Function::kName; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override {
    Signature signature;
    signature.outputs = {inputs[0]};
    return signature;
  }
  [[nodiscard]] Contract contract() const override {
    Contract contract;
    contract.alias_forward = std::is_same_v<Function, Identity>;
    contract.backward_reads_outputs = Function::kReadsOutput && !contract.alias_forward;
    contract.backward_reads_inputs = !Function::kReadsOutput;
    contract.in_place_forward = true;
    contract.in_place_backward = true;
    contract.can.set(Can::write_slices, !contract.alias_forward);
    contract.keeps_steps = true;
    return contract;
  }
  [[nodiscard]] std::string attributes() const override {
    if constexpr (requires { text_of(function_); }) return text_of(function_);
    return "{}";
  }

 private:
  Function function_;
};

/// Every activation, in the order of the reference.
using Activations = std::tuple<Relu, Relu6, LeakyRelu, Elu, Selu, Gelu, Swish, HardSwish, Sigmoid,
                               HardSigmoid, Tanh, Softplus, Softsign, Mish, ScaleBy, Identity>;

/// Any shape to the same shape; channels of a pixel (or sample) sum to 1.
class SoftmaxOp final : public Op {
 public:
  [[nodiscard]] std::string_view type() const override { return "softmax"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override;
};

struct PreluAttributes {
  double init = 0;  // initial value of every slope
};

/// Any shape to the same shape. Parameter: alpha [c].
class PreluOp final : public ChannelParameterOp {
 public:
  explicit PreluOp(PreluAttributes attributes) : attributes_(attributes) {}
  [[nodiscard]] std::string_view type() const override { return "prelu"; }
  [[nodiscard]] std::string attributes() const override;

 protected:
  [[nodiscard]] std::vector<ParameterSpec> parameters(std::int64_t channels) const override;

 private:
  PreluAttributes attributes_;
};

/// Softmax, prelu and the activations, in the order of the reference.
[[nodiscard]] std::span<const config::Kind<Op>> activation_kinds();

}  // namespace trainyard
