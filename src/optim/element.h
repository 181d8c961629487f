// The element that one step of an optimizer's rule changes.
#pragma once

#include <cstddef>

namespace trainyard {

/// One parameter element with its optimizer state, one value per slot. Rules without state have an
/// unused one, since arrays of no length do not exist.
template <class T, std::size_t slots>
struct Element {
  T weight;
  T state[slots > 0 ? slots : 1];
};

}  // namespace trainyard
