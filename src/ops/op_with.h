// Ops whose attributes are one struct.
#pragma once

#include <utility>

#include "ops/op.h"

namespace trainyard {

/// An op that is made of its attributes; `Base` is what it shares with others.
template <class Attributes, class Base = Op>
class OpWith : public Base {
 public:
  explicit OpWith(Attributes attributes) : attributes_(std::move(attributes)) {}
  [[nodiscard]] const Attributes& values() const { return attributes_; }

 private:
  Attributes attributes_;
};

}  // namespace trainyard
