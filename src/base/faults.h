// Files that cannot be samples, all told at once.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>

#include "base/error.h"

namespace trainyard {

/// The first 20 messages, a line of its own each, and how many more there are; begins with a line
/// feed.
[[nodiscard]] std::string fault_lines(std::span<const std::string> messages);
/// "3 files cannot be used:" and their lines; a single message as it is.
[[nodiscard]] std::string fault_list(std::span<const std::string> messages);

/// The message of an Error{data} of the work; "": it has none. Other errors pass.
template <class Work>
[[nodiscard]] std::string fault_in(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::data) throw;
    return error.what();
  }
  return "";
}

/// The errors of attempts from any thread, in the order of their indices.
class Faults {
 public:
  /// Notes an Error{data} of the work; others pass.
  template <class Work>
  void attempt(std::int64_t index, const Work& work) {
    if (const std::string fault = fault_in(work); !fault.empty()) note(index, fault);
  }
  void note(std::int64_t index, const std::string& message);
  /// The message of each index that failed so far.
  [[nodiscard]] std::map<std::int64_t, std::string> found() const;
  /// Throws Error{data} with the fault_list() if there are any.
  void raise() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::int64_t, std::string> found_;
};

}  // namespace trainyard
