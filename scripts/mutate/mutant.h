// Changes of arithmetic that a run of a test program switches on by number: the environment
// variable TRAINYARD_MUTANT names one. rewrite.py puts them into a copy of the sources, and every
// translation unit of that copy includes this first.
//
//   a + mutant(7) + b     a + b, or with change 7 another operator: all of them associate to the
//   left a += mutant(7) += b   a += b, or another operand: assignments associate to the right
//   mutant(7)->*a         -a, or a
//   mutant(7)(2.0)        2.0, or 3.0
#pragma once

#include <cstdlib>
#include <type_traits>

namespace mutants {

inline const int active = [] {
  const char *number = std::getenv("TRAINYARD_MUTANT");
  return number == nullptr ? 0 : std::atoi(number);
}();

struct Mutant {
  int number;

  [[nodiscard]] constexpr bool on() const {
    if (std::is_constant_evaluated()) return false;
    return number == active;
  }
  template <class T>
  constexpr T operator()(T constant) const {
    return on() ? static_cast<T>(constant + 1) : constant;
  }
  template <class T>
  constexpr auto operator->*(T value) const {
    return on() ? +value : -value;
  }
};

/// The left operand of an operator that waits for the right one.
template <class A>
struct Left {
  A value;
  bool on;
};

#define TY_MUTANT_BINARY(op, other)                                     \
  template <class A>                                                    \
  constexpr Left<A> operator op(A a, Mutant mutant) {                   \
    return {a, mutant.on()};                                            \
  }                                                                     \
  template <class A, class B>                                           \
  constexpr auto operator op(Left<A> a, B b) {                          \
    using Result = decltype(a.value op b);                              \
    if constexpr (requires { static_cast<Result>(a.value other b); }) { \
      if (a.on) return static_cast<Result>(a.value other b);            \
    } /* else, as between iterators, there is no change */              \
    return static_cast<Result>(a.value op b);                           \
  }

TY_MUTANT_BINARY(+, -)
TY_MUTANT_BINARY(-, +)
TY_MUTANT_BINARY(*, +)
TY_MUTANT_BINARY(/, *)
TY_MUTANT_BINARY(%, /)
TY_MUTANT_BINARY(<, >=)
TY_MUTANT_BINARY(>, <=)
TY_MUTANT_BINARY(<=, >)
TY_MUTANT_BINARY(>=, <)
TY_MUTANT_BINARY(==, !=)
TY_MUTANT_BINARY(!=, ==)
TY_MUTANT_BINARY(<<, >>)
TY_MUTANT_BINARY(>>, <<)
TY_MUTANT_BINARY(&, |)
TY_MUTANT_BINARY(|, &)
TY_MUTANT_BINARY(^, |)

/// -b, or nothing of what has no minus, as sums of pairs.
template <class B>
constexpr B negated(B b) {
  if constexpr (requires { -b; }) {
    return static_cast<B>(-b);
  } else {
    return B{};
  }
}

#define TY_MUTANT_ASSIGNMENT(op, changed)             \
  template <class B>                                  \
  constexpr B operator op(Mutant mutant, B b) {       \
    return mutant.on() ? static_cast<B>(changed) : b; \
  }

TY_MUTANT_ASSIGNMENT(+=, negated(b))
TY_MUTANT_ASSIGNMENT(-=, negated(b))
TY_MUTANT_ASSIGNMENT(*=, b + 1)
TY_MUTANT_ASSIGNMENT(/=, b + 1)

}  // namespace mutants

constexpr mutants::Mutant mutant(int number) { return {number}; }
