// Collects the errors of a file so that all are reported in one go.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace trainyard::config {

class Diagnostics {
 public:
  /// Adds "path:line:column: [layer 'x': ]text". The same position is reported once, so that one
  /// mistake in a block that is called ten times gives one line.
  void error(const Position& where, const std::string& text);
  /// As error(), for what a map lacks: a map begins where its first key does, and an error of that
  /// key may stand beside it.
  void missing(const Position& where, const std::string& text);
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
  /// Throws Error{config} with one line an error, in file order, if there are any; beyond 100 lines
  /// only their number.
  void raise() const;

 private:
  struct Message {
    Position where;
    std::string text;
  };
  void add(const Position& where, const std::string& text, bool about_map);

  std::vector<Message> messages_;
  std::set<std::string> seen_;  // positions
  std::string layer_;
};

/// The candidate nearest to `word`, or empty if none is near: edit distance at most 1, or 2 from 4
/// letters on; case is ignored. Of several the first that begins as the word does, else the first.
[[nodiscard]] std::string nearest(std::string_view word, std::span<const std::string> candidates);
/// "; did you mean 'x'?" for nearest(), else "".
[[nodiscard]] std::string suggestion(std::string_view word,
                                     std::span<const std::string> candidates);

}  // namespace trainyard::config
