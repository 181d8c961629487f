// Collects the errors of a file so that all are reported in one go.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace trainyard::config {

class Diagnostics {
 public:
  /// Adds "path:line:column: [layer 'x': ]text". The same position is reported once.
  void error(const Position& where, const std::string& text);
  /// Adds to every later message "layer 'x': " until the returned scope ends.
  class LayerScope {
   public:
    LayerScope(Diagnostics& owner, std::string path);
    ~LayerScope();
    LayerScope(const LayerScope&) = delete;
    LayerScope& operator=(const LayerScope&) = delete;

   private:
    Diagnostics& owner_;
    std::string before_;
  };
  [[nodiscard]] bool empty() const { return messages_.empty(); }
  [[nodiscard]] std::size_t size() const { return messages_.size(); }
  /// Throws Error{config} with one line an error, in file order, if there are any.
  void raise() const;

 private:
  struct Message {
    Position where;
    std::string text;
  };
  std::vector<Message> messages_;
  std::string layer_;
};

/// "; did you mean 'x'?" for the nearest candidate (Levenshtein distance at most 2, and less than
/// half the word's length), else "".
[[nodiscard]] std::string suggestion(std::string_view word, std::span<const std::string> candidates);

}  // namespace trainyard::config
