// The element that one step of an optimizer's rule changes.
#pragma once

namespace trainyard {

/// One parameter element with its optimizer state.
template <class T>
struct Element {
  T weight, first, second;
};

}  // namespace trainyard
