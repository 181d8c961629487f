// Lists of types.
#pragma once

#include <tuple>
#include <type_traits>
#include <variant>

namespace trainyard {

/// Extends a std::variant by types that it lacks; those of another std::variant one by one.
template <class Variant, class... Added>
struct Extended {
  using Type = Variant;
};
template <class... Known, class First, class... Rest>
struct Extended<std::variant<Known...>, First, Rest...>
    : Extended<std::conditional_t<(std::is_same_v<Known, First> || ...), std::variant<Known...>,
                                  std::variant<Known..., First>>,
               Rest...> {};
template <class... Known, class... Parts, class... Rest>
struct Extended<std::variant<Known...>, std::variant<Parts...>, Rest...>
    : Extended<std::variant<Known...>, Parts..., Rest...> {};

template <template <class> class Of, class List>
struct VariantOfList;
template <template <class> class Of, class... Listed>
struct VariantOfList<Of, std::tuple<Listed...>> : Extended<std::variant<>, Of<Listed>...> {};

/// The std::variant of Of<T> for each T of a std::tuple, each type once; if Of<T> is a
/// std::variant, of its types.
template <template <class> class Of, class List>
using VariantOf = typename VariantOfList<Of, List>::Type;

}  // namespace trainyard
