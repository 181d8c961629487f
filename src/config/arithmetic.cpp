#include "config/arithmetic.h"

#include <cmath>

#include "base/text.h"
#include "config/scalars.h"

namespace trainyard::config {
namespace {

using TermKind = Term::Kind;

[[noreturn]] void overflow() { throw ExpressionError("the result is beyond 64-bit whole numbers"); }

void require_divisor(double divisor) {
  if (divisor == 0) throw ExpressionError("division by zero");
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  if (b == -1 && a == INT64_MIN) overflow();
  const std::int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

std::int64_t modulo(std::int64_t a, std::int64_t b) {
  if (b == -1) return 0;  // a % b would trap for the smallest integer
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

std::int64_t multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) overflow();
  return product;
}

std::int64_t power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  while (exponent > 0) {
    if (exponent % 2 != 0) result = multiply(result, base);
    exponent /= 2;
    if (exponent > 0) base = multiply(base, base);
  }
  return result;
}

std::int64_t whole(TermKind kind, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (kind) {
    case TermKind::power:
      return power(a, b);
    case TermKind::multiply:
      return multiply(a, b);
    case TermKind::floor_divide:
      return floor_divide(a, b);
    case TermKind::modulo:
      return modulo(a, b);
    case TermKind::add:
      if (__builtin_add_overflow(a, b, &result)) overflow();
      return result;
    default:
      if (__builtin_sub_overflow(a, b, &result)) overflow();
      return result;
  }
}

// As Python's float.__mod__: the result has the sign of b.
double modulo(double a, double b) {
  const double rest = std::fmod(a, b);
  if (rest != 0 && (rest < 0) != (b < 0)) return rest + b;
  return rest == 0 ? std::copysign(0.0, b) : rest;
}

// As in Python: the quotient without modulo()'s remainder, rounded if the division was inexact.
double floor_divide(double a, double b) {
  const double quotient = (a - modulo(a, b)) / b;
  const double down = std::floor(quotient);
  return quotient - down > 0.5 ? down + 1 : down;
}

double real(TermKind kind, double a, double b) {
  switch (kind) {
    case TermKind::power:
      if (b < 0) require_divisor(a);
      return std::pow(a, b);
    case TermKind::multiply:
      return a * b;
    case TermKind::divide:
      return a / b;
    case TermKind::floor_divide:
      return floor_divide(a, b);
    case TermKind::modulo:
      return modulo(a, b);
    case TermKind::add:
      return a + b;
    default:
      return a - b;
  }
}

bool ordered(TermKind kind, double a, double b) {
  switch (kind) {
    case TermKind::less:
      return a < b;
    case TermKind::less_equal:
      return a <= b;
    case TermKind::greater:
      return a > b;
    default:
      return a >= b;
  }
}

bool equal(const Node& left, const Node& right) {
  if (left.kind == Node::Kind::integer && right.kind == Node::Kind::integer) {
    return left.integer == right.integer;
  }
  if (left.is_number() && right.is_number()) return left.real == right.real;
  return same_value(left, right);
}

// Negative where left < right; exact for two integers.
double difference_sign(const Node& left, const Node& right) {
  if (left.kind == Node::Kind::integer && right.kind == Node::Kind::integer) {
    return left.integer < right.integer ? -1 : left.integer > right.integer ? 1 : 0;
  }
  return left.real < right.real ? -1 : left.real > right.real ? 1 : 0;
}

/// Throws ExpressionError if `value` is not finite.
Node real_node(double value) {
  if (!std::isfinite(value)) throw ExpressionError("the result is not a finite number");
  return scalar_node(real_scalar(value), false, {});
}

Node integer_node(std::int64_t value) { return scalar_node(number_text(value), false, {}); }

}  // namespace

Node boolean_node(bool value) { return scalar_node(value ? "true" : "false", false, {}); }

void require_number(const Node& value) {
  if (!value.is_number()) throw ExpressionError("expected a number, found " + describe(value));
}

bool truth(const Node& value) {
  if (value.kind != Node::Kind::boolean) {
    throw ExpressionError("expected true or false, found " + describe(value));
  }
  return value.boolean;
}

Node arithmetic(TermKind kind, const Node& left, const Node& right) {
  require_number(left);
  require_number(right);
  if (kind == TermKind::divide || kind == TermKind::floor_divide || kind == TermKind::modulo) {
    require_divisor(right.real);
  }
  const bool integers = left.kind == Node::Kind::integer && right.kind == Node::Kind::integer;
  const bool fraction = kind == TermKind::divide || (kind == TermKind::power && right.integer < 0);
  if (integers && !fraction) return integer_node(whole(kind, left.integer, right.integer));
  return real_node(real(kind, left.real, right.real));
}

Node comparison(TermKind kind, const Node& left, const Node& right) {
  if (kind == TermKind::equal) return boolean_node(equal(left, right));
  if (kind == TermKind::not_equal) return boolean_node(!equal(left, right));
  require_number(left);
  require_number(right);
  return boolean_node(ordered(kind, difference_sign(left, right), 0));
}

Node negated(const Node& value) {
  require_number(value);
  if (value.kind == Node::Kind::real) return real_node(-value.real);
  return integer_node(whole(TermKind::subtract, 0, value.integer));
}

Node truncated(const Node& value) {
  require_number(value);
  if (value.kind == Node::Kind::integer) return integer_node(value.integer);
  // 2^63, the first double beyond.
  if (!(std::abs(value.real) < 9223372036854775808.0)) overflow();
  return integer_node(static_cast<std::int64_t>(value.real));
}

Node extreme(std::span<const Node> values, bool greatest) {
  const Node* best = nullptr;
  for (const Node& value : values) {
    require_number(value);
    if (best == nullptr) {
      best = &value;
      continue;
    }
    const double sign = difference_sign(value, *best);
    if (greatest ? sign > 0 : sign < 0) best = &value;
  }
  return *best;
}

}  // namespace trainyard::config
