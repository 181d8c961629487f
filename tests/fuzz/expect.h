// Properties that must hold once a reader has accepted an input.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "base/error.h"
#include "data/sets/dataset.h"

namespace trainyard::fuzz {

/// A reader accepted invalid input, or lost a part of it.
class BrokenProperty : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws BrokenProperty with `what` if the condition is false.
void expect(bool holds, const std::string& what);

/// The result of `read`, which reads the program's own output for an accepted input: a refusal is a
/// BrokenProperty that names `made`.
template <class Read>
auto read_again(const std::string& made, Read&& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw BrokenProperty(std::string("refused: ") + error.what() + "\nin:\n" + made);
  }
}

/// Reads the first and the last sample; sizes and labels must match the set.
void expect_readable(const Dataset& set, std::int32_t least_label = 0);

}  // namespace trainyard::fuzz
