// Keys and values within limits.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "ranks/rendezvous/store.h"

namespace trainyard {

/// The contents of a store. A call that throws changes nothing.
class StoreTable {
 public:
  explicit StoreTable(const StoreLimits& limits) : limits_(limits) {}

  /// Null if there is no such key.
  [[nodiscard]] const std::string* find(std::string_view key) const;
  /// Throws Error{device} beyond a limit.
  void set(std::string_view key, std::string_view value);
  /// See Store::add. Throws Error{device} beyond a limit, for a value that is not a number, and for
  /// a sum that does not fit in 64 bits.
  std::int64_t add(std::string_view key, std::int64_t amount);

 private:
  StoreLimits limits_;
  std::map<std::string, std::string, std::less<>> values_;
  std::size_t bytes_ = 0;
};

/// Throws the error for a key that was not set in time.
[[noreturn]] void key_is_late(std::string_view key, Milliseconds limit);

}  // namespace trainyard
