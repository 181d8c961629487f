// Typed reading of a map, and from the same declarations the reference text and the JSON Schema.
//
// A type that can be configured has a free function `void declare(Fields&, T&)`, found by argument
// dependent lookup, that names each key once:
//
//   void declare(Fields& fields, ConvAttributes& conv) {
//     fields.required("filters", conv.filters, "output channels", {.minimum = 1});
//     fields.field("stride", conv.stride, "step of the window; one number or [h, w]", {.minimum = 1});
//   }
//
// The order of the calls is the order of positional values (`conv: [64, 3]`, `dense: 10`). A
// field's default is the value that its variable holds when it is declared.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/diagnostics.h"
#include "config/node.h"

namespace trainyard::config {

/// Whose conventions give the defaults (semantics.md).
enum class Profile { keras2, torch };

/// Range of a number (each of the numbers of a list); `exclusive_minimum` makes minimum exclusive.
struct Limits {
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  bool exclusive_minimum = false;
};

/// Height and width of a window, stride or dilation. Written as one number or as [h, w].
struct Pair {
  std::int64_t h = 1;
  std::int64_t w = 1;
  bool operator==(const Pair&) const = default;
};

/// The words of an enum, in order. Specialise as an overload beside the enum:
///   std::span<const Word<Fill>> words(Fill);
template <class E>
struct Word {
  E value;
  std::string_view word;
};

class Fields;

/// One member of a family (an optimizer, a schedule, an augmentation, a dataset, an op): read from
/// `name`, `name: scalar or list` or `name: {...}`.
template <class Base>
struct Kind {
  std::string_view name;
  std::string_view help;  // one line for the reference
  std::unique_ptr<Base> (*read)(Fields&);
};

/// What a declaration looks like to the reference and the JSON Schema.
struct FieldDescription;

class Fields {
 public:
  /// Reads `node` (null, scalar, list or map; positional values are matched in declaration order),
  /// with `defaults` (a map or null) under it. `what` names the thing in messages ("conv",
  /// "optimizer"). Errors go to `diagnostics`.
  Fields(const Node& node, const Node* defaults, std::string what, Profile profile,
         Diagnostics& diagnostics);
  /// Describe mode: reads nothing, records every declaration.
  explicit Fields(Profile profile);
  ~Fields();
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  [[nodiscard]] Profile profile() const;
  [[nodiscard]] bool describing() const;
  /// Position of the map (or of the value of `key` where that is given in it).
  [[nodiscard]] Position where(std::string_view key = {}) const;
  /// True if the key was given explicitly or by `defaults`.
  [[nodiscard]] bool given(std::string_view key) const;
  /// A semantic error at `key` ("" for the whole map): a combination that makes no sense.
  void error(std::string_view key, const std::string& text);

  void field(std::string_view key, std::int64_t& out, std::string_view help, Limits limits = {});
  void field(std::string_view key, double& out, std::string_view help, Limits limits = {});
  void field(std::string_view key, bool& out, std::string_view help);
  void field(std::string_view key, std::string& out, std::string_view help);
  void field(std::string_view key, Pair& out, std::string_view help, Limits limits = {});
  void field(std::string_view key, std::vector<std::int64_t>& out, std::string_view help,
             Limits limits = {});
  void field(std::string_view key, std::vector<double>& out, std::string_view help,
             Limits limits = {});
  void field(std::string_view key, std::vector<std::string>& out, std::string_view help);
  /// A value kept as a tree (free-form maps such as `vars:`).
  void field(std::string_view key, Node& out, std::string_view help);
  /// A word of an enum (see Word).
  template <class E>
    requires std::is_enum_v<E>
  void field(std::string_view key, E& out, std::string_view help);
  /// A nested map with its own `declare`.
  template <class T>
    requires requires(Fields& fields, T& value) { declare(fields, value); }
  void field(std::string_view key, T& out, std::string_view help);
  /// An optional value: empty if the key is not given (or null).
  template <class T>
  void field(std::string_view key, std::optional<T>& out, std::string_view help,
             Limits limits = {});
  /// As field(), but a missing key is an error (at the position of the map).
  template <class T>
  void required(std::string_view key, T& out, std::string_view help, Limits limits = {});

  /// One member of a family: `key: name`, `key: {name: ...}`. Two members are an error. `out` stays
  /// as it is if the key is not given.
  template <class Base>
  void one_of(std::string_view key, std::unique_ptr<Base>& out, std::string_view help,
              std::span<const Kind<Base>> family);
  /// A list of members: `key: [name, {name: ...}]`.
  template <class Base>
  void list_of(std::string_view key, std::vector<std::unique_ptr<Base>>& out,
               std::string_view help, std::span<const Kind<Base>> family);

  /// Reports unknown keys and surplus positional values (with suggestions). Call last; the
  /// templates above do so for nested maps.
  void finish();
  /// Describe mode: what was declared, in order.
  [[nodiscard]] const std::vector<FieldDescription>& descriptions() const;

 private:
  struct State;
  // The non-template core of the templates; see fields.cpp.
  [[nodiscard]] const Node* take(std::string_view key);
  void missing(std::string_view key);
  void field_word(std::string_view key, std::size_t& index, std::string_view help,
                  std::span<const std::string_view> words);
  /// Begins a nested map in describe mode or with the node of `key`; null if absent.
  std::unique_ptr<Fields> nested(std::string_view key, std::string_view help);
  struct Member {
    std::size_t index;               // into the family
    std::unique_ptr<Fields> fields;  // its body
  };
  std::optional<Member> member(std::string_view key, std::string_view help,
                               std::span<const std::string_view> names);
  std::vector<Member> members(std::string_view key, std::string_view help,
                              std::span<const std::string_view> names);
  void describe_family(std::string_view key, std::string_view help, bool list,
                       std::size_t count, const std::string_view* names,
                       const std::string_view* helps, std::vector<std::unique_ptr<Fields>> bodies);

  std::unique_ptr<State> state_;
};

}  // namespace trainyard::config

#include "config/fields_templates.h"
