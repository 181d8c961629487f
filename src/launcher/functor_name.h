// The name of a functor's type, for those who count launches.
#pragma once

#include <string>
#include <string_view>

#include "launcher/siblings.h"

namespace trainyard {

/// The functor that a launch is named after: of two in turn the first, of siblings that
/// of each.
template <class F>
struct NamedFunctor {
  using Type = F;
};
template <class First, class Second>
struct NamedFunctor<InTurn<First, Second>> : NamedFunctor<First> {};
template <class Settle, class F>
struct NamedFunctor<SettledCall<Settle, F>> : NamedFunctor<F> {};
template <class Call>
struct NamedFunctor<Siblings<Call>> : NamedFunctor<typename Call::Functor> {};

/// "BatchMoments" of "... [with F = trainyard::BatchMoments<float>; ...]", the text of GCC and
/// Clang.
[[nodiscard]] inline std::string short_type_name(std::string_view function) {
  constexpr std::string_view kBefore = "F = ";
  std::string_view name = function.substr(function.find(kBefore) + kBefore.size());
  name = name.substr(0, name.find_first_of("<;]"));
  const std::size_t scope = name.rfind("::");
  return std::string(scope == std::string_view::npos ? name : name.substr(scope + 2));
}

template <class F>
[[nodiscard]] const std::string& own_type_name() {
  static const std::string name = short_type_name(__PRETTY_FUNCTION__);
  return name;
}

/// Without namespaces and template arguments: "NormaliseRows".
template <class F>
[[nodiscard]] const std::string& functor_name() {
  return own_type_name<typename NamedFunctor<F>::Type>();
}

}  // namespace trainyard
