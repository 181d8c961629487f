// The message of an Error, for the tests.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "base/error.h"

namespace trainyard::testing {

/// The message of the Error that `f` throws, "" if it throws none. The kind is checked.
template <class F>
std::string error_of(ErrorKind kind, F&& f) {
  try {
    f();
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.what();
  }
  return "";
}

}  // namespace trainyard::testing
