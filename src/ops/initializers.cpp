#include "ops/initializers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <vector>

#include "base/error.h"
#include "base/philox.h"
#include "base/text.h"

namespace trainyard {

namespace {

using Kind = Initializer::Kind;

/// The draws of one parameter.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t parameter_key)
      : seed_(seed),
        low_(static_cast<std::uint32_t>(parameter_key)),
        high_(static_cast<std::uint32_t>(parameter_key >> 32)) {}

  /// Uniform in (0, 1), symmetric about a half.
  [[nodiscard]] double uniform(std::int64_t element) const {
    return unit(words(element, 0).word[0]);
  }
  /// Standard normal (Box and Muller 1958), truncated at +-`bound` by drawing again.
  [[nodiscard]] double normal(std::int64_t element, double bound) const {
    for (std::uint64_t attempt = 0;; ++attempt) {
      const Random4 draw = words(element, attempt);
      for (const int pair : {0, 2}) {
        const double radius = std::sqrt(-2 * std::log(unit(draw.word[pair])));
        const double angle = 2 * std::numbers::pi * unit(draw.word[pair + 1]);
        for (const double value : {radius * std::cos(angle), radius * std::sin(angle)}) {
          if (std::abs(value) <= bound) return value;
        }
      }
    }
  }

 private:
  static double unit(std::uint32_t word) {
    return (static_cast<double>(word) + 0.5) * (1.0 / 4294967296.0);
  }
  [[nodiscard]] Random4 words(std::int64_t element, std::uint64_t attempt) const {
    const std::uint64_t counter = static_cast<std::uint64_t>(element) + (attempt << 48);
    return random4(seed_, RandomStream::initializer, low_, high_, counter);
  }

  std::uint64_t seed_;
  std::uint32_t low_, high_;
};

constexpr double kUncut = std::numeric_limits<double>::infinity();
constexpr double kCut = 2;  // deviations at which truncated normals end

/// The distribution of one kind of initializer.
struct Distribution {
  enum class Form { constant, uniform, normal, truncated } form = Form::constant;
  double scale = 0;  // the value, the bound or the deviation
};

Distribution distribution_of(const ParameterSpec& parameter) {
  using Form = Distribution::Form;
  const double in = static_cast<double>(parameter.fan_in);
  const double both = static_cast<double>(parameter.fan_in + parameter.fan_out);
  const double value = parameter.initializer.value;
  switch (parameter.initializer.kind) {
    case Kind::zeros:
      return {Form::constant, 0};
    case Kind::ones:
      return {Form::constant, 1};
    case Kind::constant:
      return {Form::constant, value};
    case Kind::uniform:
      return {Form::uniform, value};
    case Kind::normal:
      return {Form::normal, value};
    case Kind::truncated_normal:
      return {Form::truncated, value};
    case Kind::glorot_uniform:
      return {Form::uniform, std::sqrt(6 / both)};
    case Kind::glorot_normal:
      return {Form::truncated, std::sqrt(2 / both)};
    case Kind::he_uniform:
      return {Form::uniform, std::sqrt(6 / in)};
    case Kind::he_normal:
      return {Form::truncated, std::sqrt(2 / in)};
    case Kind::lecun_uniform:
    case Kind::xavier:
      return {Form::uniform, std::sqrt(3 / in)};
    case Kind::lecun_normal:
      return {Form::truncated, std::sqrt(1 / in)};
    case Kind::msra:
      return {Form::normal, std::sqrt(2 / in)};
    case Kind::torch_default:
    case Kind::whitening:
    case Kind::dirac_partial:
      return {Form::uniform, std::sqrt(1 / in)};
    case Kind::orthogonal:
    case Kind::dirac:
    case Kind::forget_gate:
      break;
  }
  TY_CHECK(false, "an initializer of single elements");
  return {};
}

double draw(const Distribution& distribution, const Draws& draws, std::int64_t element) {
  switch (distribution.form) {
    case Distribution::Form::constant:
      break;
    case Distribution::Form::uniform:
      return distribution.scale * (2 * draws.uniform(element) - 1);
    case Distribution::Form::normal:
      return distribution.scale * draws.normal(element, kUncut);
    case Distribution::Form::truncated:
      return distribution.scale * draws.normal(element, kCut);
  }
  return distribution.scale;
}

/// A set of vectors made orthonormal one after the other (modified Gram-Schmidt, run twice over
/// each vector, so that they are orthogonal to rounding: Giraud et al. 2005).
class OrthonormalVectors {
 public:
  OrthonormalVectors(std::int64_t count, std::int64_t length, const Draws& draws)
      : length_(length), values_(static_cast<std::size_t>(count * length)) {
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t k = 0; k < length; ++k) {
        vector(i)[k] = draws.normal(i * length + k, kUncut);
      }
      for (int round = 0; round < 2; ++round) {
        for (std::int64_t j = 0; j < i; ++j) subtract(i, j);
      }
      normalise(i);
    }
  }
  [[nodiscard]] double at(std::int64_t i, std::int64_t k) const {
    return values_[static_cast<std::size_t>(i * length_ + k)];
  }

 private:
  double* vector(std::int64_t i) { return values_.data() + i * length_; }
  double dot(std::int64_t i, std::int64_t j) {
    double sum = 0;
    for (std::int64_t k = 0; k < length_; ++k) sum += vector(i)[k] * vector(j)[k];
    return sum;
  }
  /// Subtracts from vector i its component along vector j.
  void subtract(std::int64_t i, std::int64_t j) {
    const double part = dot(i, j);
    for (std::int64_t k = 0; k < length_; ++k) vector(i)[k] -= part * vector(j)[k];
  }
  void normalise(std::int64_t i) {
    const double factor = 1 / std::sqrt(dot(i, i));
    for (std::int64_t k = 0; k < length_; ++k) vector(i)[k] *= factor;
  }

  std::int64_t length_;
  std::vector<double> values_;
};

void fill_orthogonal(const Shape& shape, const Draws& draws, std::span<float> out) {
  const std::int64_t rows = shape[0], columns = shape.elements() / shape[0];
  const bool by_rows = rows <= columns;
  const OrthonormalVectors vectors(by_rows ? rows : columns, by_rows ? columns : rows, draws);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t k = 0; k < columns; ++k) {
      const double value = by_rows ? vectors.at(i, k) : vectors.at(k, i);
      out[static_cast<std::size_t>(i * columns + k)] = static_cast<float>(value);
    }
  }
}

/// Each of the first `last` kernels passes the channel of its index through, or is zero.
void fill_dirac(const Shape& shape, std::int64_t last, std::span<float> out) {
  const std::int64_t taps = shape.h() * shape.w();
  const std::int64_t centre = shape.h() / 2 * shape.w() + shape.w() / 2;
  std::fill_n(out.begin(), last * shape[1] * taps, 0.0F);
  for (std::int64_t i = 0; i < std::min(last, shape[1]); ++i) {
    out[static_cast<std::size_t>((i * shape[1] + i) * taps + centre)] = 1;
  }
}

void fill_forget_gate(std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = i * 4 / out.size() == 1 ? 1 : 0;
}

}  // namespace

void initialize(const ParameterSpec& parameter, std::uint64_t seed, std::uint64_t parameter_key,
                std::span<float> out) {
  TY_CHECK(static_cast<std::int64_t>(out.size()) == parameter.shape.elements(),
           "room for every element of the parameter");
  const Draws draws(seed, parameter_key);
  if (parameter.initializer.kind == Kind::orthogonal) {
    return fill_orthogonal(parameter.shape, draws, out);
  }
  const Shape& shape = parameter.shape;
  if (parameter.initializer.kind == Kind::dirac) return fill_dirac(shape, shape[0], out);
  if (parameter.initializer.kind == Kind::forget_gate) return fill_forget_gate(out);
  const Distribution distribution = distribution_of(parameter);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(draw(distribution, draws, static_cast<std::int64_t>(i)));
  }
  if (parameter.initializer.kind == Kind::dirac_partial) {
    fill_dirac(shape, std::min(shape[0], shape[1]), out);
  }
}

ParameterSpec bias_for(const ParameterSpec& kernel, std::int64_t outputs) {
  const bool torch = kernel.initializer.kind == Initializer::Kind::torch_default;
  const Initializer::Kind kind =
      torch ? Initializer::Kind::torch_default : Initializer::Kind::zeros;
  return {.name = "bias",
          .shape = {outputs},
          .initializer = {.kind = kind},
          .group = ParameterGroup::bias,
          .l2 = 0,
          .fan_in = kernel.fan_in,
          .fan_out = kernel.fan_out};
}

namespace {

using Kind = Initializer::Kind;

/// An initializer as a member of the family `init:`.
struct Member {
  Initializer initializer;
  [[nodiscard]] std::string_view name() const;
};

template <Kind kind>
std::unique_ptr<Member> plain(config::Fields&) {
  return std::make_unique<Member>(Member{{.kind = kind}});
}

std::unique_ptr<Member> constant(config::Fields& fields) {
  Member member{{.kind = Kind::constant}};
  fields.required("value", member.initializer.value, "value of every element");
  return std::make_unique<Member>(member);
}

std::unique_ptr<Member> uniform(config::Fields& fields) {
  Member member{{.kind = Kind::uniform}};
  fields.required("bound", member.initializer.value, "largest magnitude of an element",
                  {.minimum = 0, .exclusive_minimum = true});
  return std::make_unique<Member>(member);
}

template <Kind kind>
std::unique_ptr<Member> normal(config::Fields& fields) {
  Member member{{.kind = kind}};
  fields.required("deviation", member.initializer.value, "standard deviation",
                  {.minimum = 0, .exclusive_minimum = true});
  return std::make_unique<Member>(member);
}

std::unique_ptr<Member> whitening(config::Fields& fields) {
  Member member{{.kind = Kind::whitening, .value = 5e-4}};
  fields.field("epsilon", member.initializer.value, "added to each eigenvalue",
               {.minimum = 0, .exclusive_minimum = true});
  return std::make_unique<Member>(member);
}

enum class DiracForm { whole, partial };
[[nodiscard]] constexpr config::Words<DiracForm> words(DiracForm) { return {"whole", "partial"}; }

std::unique_ptr<Member> dirac(config::Fields& fields) {
  DiracForm form = DiracForm::whole;
  fields.field("form", form, "whole: kernels beyond the channels are 0; partial: torch_default");
  const bool whole = form == DiracForm::whole;
  return std::make_unique<Member>(Member{{.kind = whole ? Kind::dirac : Kind::dirac_partial}});
}

/// In the order of Initializer::Kind.
constexpr config::Kind<Member> kMembers[] = {
    {"zeros", "all 0", plain<Kind::zeros>},
    {"ones", "all 1", plain<Kind::ones>},
    {"constant", "all equal", constant},
    {"uniform", "uniform between -bound and bound", uniform},
    {"normal", "normal with a standard deviation", normal<Kind::normal>},
    {"truncated_normal", "normal, truncated at two deviations", normal<Kind::truncated_normal>},
    {"glorot_uniform", "uniform, bound sqrt(6 / (fan_in + fan_out))", plain<Kind::glorot_uniform>},
    {"glorot_normal", "truncated, deviation sqrt(2 / (fan_in + fan_out))",
     plain<Kind::glorot_normal>},
    {"he_uniform", "uniform, bound sqrt(6 / fan_in)", plain<Kind::he_uniform>},
    {"he_normal", "truncated, deviation sqrt(2 / fan_in)", plain<Kind::he_normal>},
    {"lecun_uniform", "uniform, bound sqrt(3 / fan_in)", plain<Kind::lecun_uniform>},
    {"lecun_normal", "truncated, deviation sqrt(1 / fan_in)", plain<Kind::lecun_normal>},
    {"msra", "normal, deviation sqrt(2 / fan_in), as in Caffe", plain<Kind::msra>},
    {"xavier", "uniform, bound sqrt(3 / fan_in), as in Caffe", plain<Kind::xavier>},
    {"torch_default", "uniform, bound 1 / sqrt(fan_in), biases too", plain<Kind::torch_default>},
    {"orthogonal", "orthonormal rows or columns", plain<Kind::orthogonal>},
    {"whitening",
     "filters of the network's first convolution that whiten the patches of training images",
     whitening},
    {"dirac", "passes each channel through; partial: torch_default in kernels beyond the channels",
     dirac},
};
static_assert(std::size(kMembers) == static_cast<std::size_t>(Kind::dirac_partial));

std::string_view Member::name() const {
  const Kind kind = initializer.kind == Kind::dirac_partial ? Kind::dirac : initializer.kind;
  return kMembers[static_cast<std::size_t>(kind)].name;
}

}  // namespace

void declare_initializer(config::Fields& fields, std::string_view key, Initializer& out,
                         std::string_view help) {
  auto member = std::make_unique<Member>(Member{out});
  fields.one_of(key, member, help, std::span<const config::Kind<Member>>(kMembers));
  out = member->initializer;
}

Initializer default_kernel_initializer(config::Profile profile) {
  switch (profile) {
    case config::Profile::keras2:
      break;
    case config::Profile::torch:
      return {.kind = Kind::torch_default};
    case config::Profile::mxnet:
      return {.kind = Kind::uniform, .value = 0.01};
    case config::Profile::caffe:
      return {.kind = Kind::xavier};
  }
  return {.kind = Kind::glorot_uniform};
}

std::string text_of(const Initializer& initializer) {
  const std::string name(Member{initializer}.name());
  switch (initializer.kind) {
    case Kind::constant:
    case Kind::uniform:
    case Kind::normal:
    case Kind::truncated_normal:
    case Kind::whitening:
      return "{" + name + ": " + number_text(initializer.value) + "}";
    case Kind::dirac_partial:
      return "{" + name + ": partial}";
    default:
      return name;
  }
}

}  // namespace trainyard
