#include "base/faults.h"

#include <algorithm>
#include <vector>

namespace trainyard {

std::string fault_lines(std::span<const std::string> messages) {
  constexpr std::size_t kMostListed = 20;
  std::string text;
  const std::size_t listed = std::min(messages.size(), kMostListed);
  for (const std::string& message : messages.first(listed)) text += "\n  " + message;
  if (listed < messages.size()) {
    text += "\n  and " + std::to_string(messages.size() - listed) + " more";
  }
  return text;
}

std::string fault_list(std::span<const std::string> messages) {
  if (messages.size() == 1) return messages[0];
  return std::to_string(messages.size()) + " files cannot be used:" + fault_lines(messages);
}

void Faults::note(std::int64_t index, const std::string& message) {
  const std::lock_guard lock(mutex_);
  found_.emplace(index, message);
}

std::map<std::int64_t, std::string> Faults::found() const {
  const std::lock_guard lock(mutex_);
  return found_;
}

void Faults::raise() const {
  if (found_.empty()) return;
  std::vector<std::string> messages;
  for (const auto& [index, message] : found_) messages.push_back(message);
  throw data_error(fault_list(messages));
}

}  // namespace trainyard
