// The templates of Fields; included only by fields.h.
#pragma once

#include "config/fields.h"

namespace trainyard::config {

template <class E>
requires std::is_enum_v<E>
void Fields::field(std::string_view key, E& out, std::string_view help) {
  const Words<E> list = words(E{});
  std::vector<std::string_view> names;
  std::size_t index = list.size();
  for (std::size_t i = 0; i < list.size(); ++i) {
    names.push_back(list[i].word);
    if (list[i].value == out) index = i;
  }
  field_word(key, index, help, names);
  if (index < list.size()) out = list[index].value;
}

template <class T>
requires requires(Fields& fields, T& value) { declare(fields, value); }
void Fields::field(std::string_view key, T& out, std::string_view help) {
  const std::unique_ptr<Fields> body = nested(key, help);
  if (!body) return;
  declare(*body, out);
  body->finish();
}

template <class T>
void Fields::limited(std::string_view key, T& out, std::string_view help, const Limits& limits) {
  if constexpr (requires { field(key, out, help, limits); }) {
    field(key, out, help, limits);
  } else {
    field(key, out, help);
  }
}

template <class T>
void Fields::field(std::string_view key, std::optional<T>& out, std::string_view help,
                   Limits limits) {
  const Presence before = presence(key);
  T value = out.value_or(T{});
  next_is_optional(!out.has_value());
  limited(key, value, help, limits);
  if (before == Presence::given) out = std::move(value);
  if (before == Presence::null) out.reset();
}

template <class T>
void Fields::required(std::string_view key, T& out, std::string_view help, Limits limits) {
  next_is_required();
  limited(key, out, help, limits);
}

template <class T>
void Fields::rest(std::string_view key, T& out, std::string_view help, Limits limits) {
  next_is_rest();
  limited(key, out, help, limits);
}

template <class T>
void Fields::others(std::string_view name, std::vector<std::pair<std::string, T>>& out,
                    std::string_view help) {
  if (describing()) {
    T any;
    next_is_others();
    return field(name, any, help);
  }
  for (const std::string& key : other_keys()) {
    T value;
    field(key, value, help);
    out.emplace_back(key, std::move(value));
  }
}

/// The names of a family's members, in order.
template <class Base>
[[nodiscard]] std::vector<std::string_view> names_of(std::span<const Kind<Base>> family) {
  std::vector<std::string_view> names;
  for (const Kind<Base>& kind : family) names.push_back(kind.name);
  return names;
}

/// The name of a default member, "" if there is none or it has no name().
template <class Pointer>
[[nodiscard]] std::string default_name(const Pointer& member) {
  if constexpr (requires { std::string(member->name()); }) {
    return member ? std::string(member->name()) : "";
  } else {
    return "";
  }
}

template <class T>
void Fields::feature(std::string_view key, std::optional<T>& out, std::string_view help) {
  if (is_off(key)) return out.reset();
  if (out) return field(key, *out, help);
  field(key, out, help);
}

template <class Pointer, class Base>
void Fields::feature(std::string_view key, Pointer& out, std::string_view help,
                     std::span<const Kind<Base>> family) {
  if (is_off(key)) return out.reset();
  one_of(key, out, help, family);
}

template <class Pointer, class Base>
void Fields::feature(std::string_view key, std::vector<Pointer>& out, std::string_view help,
                     std::span<const Kind<Base>> family) {
  if (is_off(key)) return out.clear();
  list_of(key, out, help, family);
}

template <class Pointer, class Base>
void Fields::one_of(std::string_view key, Pointer& out, std::string_view help,
                    std::span<const Kind<Base>> family) {
  if (describing()) {
    describe_family(key, help, FamilyForm::one, family, default_name(out));
    return;
  }
  const std::optional<Member> chosen = member(key, names_of(family));
  if (!chosen) return;
  out = family[chosen->index].read(*chosen->fields);
  chosen->fields->finish();
}

template <class Pointer, class Base>
void Fields::required_one_of(std::string_view key, Pointer& out, std::string_view help,
                             std::span<const Kind<Base>> family) {
  next_is_required();
  one_of(key, out, help, family);
}

template <class Pointer, class Base>
void Fields::list_of(std::string_view key, std::vector<Pointer>& out, std::string_view help,
                     std::span<const Kind<Base>> family) {
  if (describing()) {
    describe_family(key, help, FamilyForm::list, family, out.empty() ? "[]" : "");
    return;
  }
  std::vector<Member> list;
  if (!members(key, names_of(family), list)) return;
  out.clear();
  for (const Member& item : list) {
    out.push_back(family[item.index].read(*item.fields));
    item.fields->finish();
  }
}

template <class Pointer, class Base>
void Fields::select(std::string_view key, Pointer& out, std::string_view help,
                    std::span<const Kind<Base>> family) {
  next_is_required();
  if (describing()) {
    describe_family(key, help, FamilyForm::selected, family, "");
    return;
  }
  const std::size_t index = selected(key, names_of(family));
  if (index < family.size()) out = family[index].read(*this);
}

template <class Base>
void Fields::describe_family(std::string_view key, std::string_view help, FamilyForm form,
                             std::span<const Kind<Base>> family, const std::string& default_text) {
  if (!begin_family(key, help, form, default_text)) return;
  for (const Kind<Base>& kind : family) {
    const std::unique_ptr<Fields> body = family_member(kind.name, kind.help);
    static_cast<void>(kind.read(*body));
    body->finish();
  }
}

}  // namespace trainyard::config
