// What must hold of an input once a reader has accepted it.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "base/error.h"
#include "data/dataset.h"

namespace trainyard::fuzz {

/// A reader accepted what it should not have, or lost a part of it.
class BrokenProperty : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws BrokenProperty with `what` unless it holds.
void expect(bool holds, const std::string& what);

/// What `read` returns: it reads what the program itself made of an accepted input, so that a
/// refusal is a BrokenProperty that names `made`.
template <class Read>
auto read_again(const std::string& made, Read&& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw BrokenProperty(std::string("refused: ") + error.what() + "\nin:\n" + made);
  }
}

/// Reads the first and the last sample; sizes and labels are what the set says.
void expect_readable(const Dataset& set);

}  // namespace trainyard::fuzz
