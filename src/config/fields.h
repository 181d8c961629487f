// Typed reading of a map; the same declarations give the reference text and the JSON Schema.
//
// A configurable type has a free function `void declare(Fields&, T&)`, found by argument-dependent
// lookup, that declares each key once:
//
//   void declare(Fields& fields, ConvAttributes& conv) {
//     fields.required("filters", conv.filters, "output channels", {.minimum = 1});
//     fields.field("stride", conv.stride, "step of the window; one number or [h, w]", {.minimum =
//     1});
//   }
//
// The order of the calls is the order of positional values (`conv: [64, 3]`, `dense: 10`). A
// field's default is the value of its variable at declaration.
//
// The folder config holds YAML: from a file to a tree with positions, to typed values, with the
// messages for what is wrong. It knows no key but those of other programs (foreign_words.h).
//
// yaml-cpp supplies events only; the tree (node.h) is ours. Reading a file, a declaration fills its
// struct and collects errors, which are raised together; describing it, it writes the JSON Schema
// and the reference.
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
#include "config/file_path.h"
#include "config/node.h"

namespace trainyard::config {

/// The framework whose conventions give the defaults (docs/profiles.md).
enum class Profile { keras2, torch, mxnet, caffe };

/// Range of a number, or of each number in a list; `exclusive_minimum` makes minimum exclusive.
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

template <class E>
struct Word {
  E value;
  std::string_view word;
};

/// The words of an enumeration, in the order of its values from 0. Provide an overload next to it:
///   constexpr Words<Fill> words(Fill) { return {"nearest", "wrap"}; }
template <class E>
class Words {
 public:
  constexpr Words(std::initializer_list<std::string_view> words) {
    for (const std::string_view word : words) {
      words_.at(count_) = {static_cast<E>(count_), word};
      ++count_;
    }
  }
  [[nodiscard]] constexpr const Word<E>* begin() const { return words_.data(); }
  [[nodiscard]] constexpr const Word<E>* end() const { return words_.data() + count_; }
  [[nodiscard]] constexpr std::size_t size() const { return count_; }
  [[nodiscard]] constexpr const Word<E>& operator[](std::size_t index) const {
    return words_[index];
  }

 private:
  std::array<Word<E>, 8> words_ = {};
  std::size_t count_ = 0;
};

/// The word of a value of an enumeration with words().
template <class E>
[[nodiscard]] constexpr std::string_view word_of(E value) {
  return words(value)[static_cast<std::size_t>(value)].word;
}

/// What the reference and messages call a plain value; "" for other types. A table is rows of
/// numbers: `[[0, 1e-3], [81, 1e-4]]`.
template <class T>
[[nodiscard]] constexpr std::string_view value_type() {
  if (std::is_same_v<T, std::int64_t>) return "integer";
  if (std::is_same_v<T, double>) return "number";
  if (std::is_same_v<T, bool>) return "boolean";
  if (std::is_same_v<T, std::string>) return "text";
  if (std::is_same_v<T, Pair>) return "pair";
  if (std::is_same_v<T, std::vector<std::int64_t>>) return "list of integers";
  if (std::is_same_v<T, std::vector<double>>) return "list of numbers";
  if (std::is_same_v<T, std::vector<std::string>>) return "list of texts";
  return std::is_same_v<T, std::vector<std::vector<double>>> ? "table" : "";
}

class Fields;

/// One member of a family (an optimizer, a schedule, an augmentation, a dataset, an op): read from
/// `name`, `name: scalar or list` or `name: {...}`.
template <class Base>
struct Kind {
  std::string_view name;
  std::string_view help;  // one line for the reference
  std::unique_ptr<Base> (*read)(Fields&);
};

/// A declaration as the reference text and the JSON Schema show it.
struct FieldDescription;

class Fields {
 public:
  /// Reads `node` (null, scalar, list or map; positional values are matched in declaration order),
  /// falling back to `defaults` (a map or null). `what` is its name in messages ("conv",
  /// "optimizer"). Errors go to `diagnostics`.
  Fields(const Node& node, const Node* defaults, std::string what, Profile profile,
         Diagnostics& diagnostics);
  /// Describe mode: reads nothing and records every declaration.
  explicit Fields(Profile profile);
  ~Fields();
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  [[nodiscard]] Profile profile() const;
  [[nodiscard]] bool describing() const;
  /// Position of the map, or of the value of `key` if the map has it.
  [[nodiscard]] Position where(std::string_view key = {}) const;
  /// True if the key was given explicitly or by `defaults`.
  [[nodiscard]] bool given(std::string_view key) const;
  /// A semantic error at `key` ("" for the whole map), such as an invalid combination.
  void error(std::string_view key, const std::string& text);

  /// For a map without positional form; call it first. False if something else was given; it is
  /// reported with `example` ("{per_gpu: 64}") and there is nothing to read.
  [[nodiscard]] bool keys_only(std::string_view example);

  /// What the text of the next declaration must say, for messages: "a number of epochs, such as '5
  /// epochs'".
  Fields& saying(std::string_view wanted);
  /// A plain value.
  template <class T>
  requires(!value_type<T>().empty()) void field(std::string_view key, T& out, std::string_view help,
                                                Limits limits = {});
  /// A path is settled, and read, as an absolute one.
  void field(std::string_view key, FilePath& out, std::string_view help);
  /// A value stored as a tree (free-form maps such as `vars:`).
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

  /// A part that a run can do without: as field(), one_of() and list_of(), but false, no and off
  /// leave it out, also one that is there by default, and true, yes and on have it without keys.
  template <class T>
  void feature(std::string_view key, std::optional<T>& out, std::string_view help);
  template <class Pointer, class Base>
  void feature(std::string_view key, Pointer& out, std::string_view help,
               std::span<const Kind<Base>> family);
  template <class Pointer, class Base>
  void feature(std::string_view key, std::vector<Pointer>& out, std::string_view help,
               std::span<const Kind<Base>> family);
  /// One member of a family: `key: name`, `key: {name: ...}`. Two members are an error. `out` is
  /// unchanged if the key is not given. A Pointer is a std::unique_ptr<Base>, or a
  /// std::shared_ptr<const Base>, here and below.
  template <class Pointer, class Base>
  void one_of(std::string_view key, Pointer& out, std::string_view help,
              std::span<const Kind<Base>> family);
  /// A list of members: `key: [name, {name: ...}]`.
  template <class Pointer, class Base>
  void list_of(std::string_view key, std::vector<Pointer>& out, std::string_view help,
               std::span<const Kind<Base>> family);

  /// As one_of(), but a missing key is an error.
  template <class Pointer, class Base>
  void required_one_of(std::string_view key, Pointer& out, std::string_view help,
                       std::span<const Kind<Base>> family);
  /// A member selected by a word, with its keys next to it: `source: cifar10, split: train`. The
  /// key is required; the member's `read` gets this same map.
  template <class Pointer, class Base>
  void select(std::string_view key, Pointer& out, std::string_view help,
              std::span<const Kind<Base>> family);
  /// As field() for a list or a tree; in positional form it takes all remaining values as a list:
  /// `piecewise: [[0, 1e-3], [81, 1e-4]]` is `piecewise: {table: [[0, 1e-3], [81, 1e-4]]}`.
  template <class T>
  void rest(std::string_view key, T& out, std::string_view help, Limits limits = {});
  /// Every further key of the map with the same declaration, in the order of the file; call it
  /// last. A key without a map of its own that resembles a declared one, which is not there, stays
  /// unknown. `name` stands for such a key in the reference.
  template <class T>
  void others(std::string_view name, std::vector<std::pair<std::string, T>>& out,
              std::string_view help);
  /// One of `words` or one or two numbers (`pad: same_upper`, `pad: 1`, `pad: [1, 2]`). `word` is
  /// the word's index, empty for numbers; on entry both hold the default.
  void word_or_pair(std::string_view key, std::optional<std::size_t>& word, Pair& pair,
                    std::span<const std::string_view> words, std::string_view help,
                    Limits limits = {});

  /// Reports unknown keys and surplus positional values, with suggestions. Call it last; the
  /// templates above call it for nested maps.
  void finish();
  /// Read mode, after finish(): the settled map with every default explicit; it reads to the same
  /// values. Members of families are written in full ({name: {keys}}).
  [[nodiscard]] const Node& settled() const;
  /// Describe mode: the declarations in order.
  [[nodiscard]] const std::vector<FieldDescription>& descriptions() const;

 private:
  struct State;
  struct Member {
    std::size_t index;               // into the family
    std::unique_ptr<Fields> fields;  // its body
  };
  /// Whether the key of the next declaration is there.
  enum class Presence { absent, null, given };
  using Names = std::span<const std::string_view>;

  Fields();
  [[nodiscard]] Presence presence(std::string_view key) const;
  void next_is_required();
  void next_is_optional(bool without_default);
  void next_is_rest();
  void next_is_others();
  /// The keys that others() takes.
  [[nodiscard]] std::vector<std::string> other_keys() const;
  /// True if the next declaration, of an optional part, is given and turned off; that is settled.
  [[nodiscard]] bool is_off(std::string_view key);
  template <class T>
  void limited(std::string_view key, T& out, std::string_view help, const Limits& limits);
  void field_word(std::string_view key, std::size_t& index, std::string_view help, Names words);
  /// The body of a nested map, in describe mode too; null if the key is absent.
  std::unique_ptr<Fields> nested(std::string_view key, std::string_view help);
  std::optional<Member> member(std::string_view key, Names names);
  /// False if the key is absent.
  bool members(std::string_view key, Names names, std::vector<Member>& out);
  /// Index of the word of a select(), past the end if there is none.
  std::size_t selected(std::string_view key, Names names);

  enum class FamilyForm { one, list, selected };
  /// Describe mode: the family and its members' declarations.
  template <class Base>
  void describe_family(std::string_view key, std::string_view help, FamilyForm form,
                       std::span<const Kind<Base>> family, const std::string& default_text);
  /// Begins the description of a family; false if it is nested too deeply.
  bool begin_family(std::string_view key, std::string_view help, FamilyForm form,
                    const std::string& default_text);
  std::unique_ptr<Fields> family_member(std::string_view name, std::string_view help);

  std::unique_ptr<State> state_;
};

[[nodiscard]] constexpr Words<Profile> words(Profile) {
  return {"keras2", "torch", "mxnet", "caffe"};
}
[[nodiscard]] std::string_view name_of(Profile profile);
/// The profile of this name, if there is one.
[[nodiscard]] std::optional<Profile> profile_named(std::string_view name);
[[nodiscard]] std::vector<std::string> profile_names();

}  // namespace trainyard::config

#include "config/fields_templates.h"
