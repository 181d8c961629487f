// Initializers as written in YAML.
#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "ops/initializers.h"

namespace trainyard {
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
    {"dirac", "passes each channel through", plain<Kind::dirac>},
};
static_assert(std::size(kMembers) == static_cast<std::size_t>(Kind::forget_gate));

std::string_view Member::name() const {
  return kMembers[static_cast<std::size_t>(initializer.kind)].name;
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
      return "{" + name + ": " + number_text(initializer.value) + "}";
    default:
      return name;
  }
}

}  // namespace trainyard
