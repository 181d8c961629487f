// Keys and values within bounds.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "comm/rendezvous/store.h"

namespace trainyard {

/// What a store holds. A call that throws changes nothing.
class StoreTable {
 public:
  explicit StoreTable(const StoreLimits& limits) : limits_(limits) {}

  /// Null if it is not there.
  [[nodiscard]] const std::string* find(std::string_view key) const;
  /// Throws Error{device} beyond a limit.
  void set(std::string_view key, std::string_view value);
  /// See Store::add. Throws Error{device} beyond a limit, for a value that is no number, and for a
  /// sum that 64 bits do not hold.
  std::int64_t add(std::string_view key, std::int64_t amount);

 private:
  StoreLimits limits_;
  std::map<std::string, std::string, std::less<>> values_;
  std::size_t bytes_ = 0;
};

/// The error of a key that did not come in time.
[[noreturn]] void key_is_late(std::string_view key, Milliseconds limit);

}  // namespace trainyard
