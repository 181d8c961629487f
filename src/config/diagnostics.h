// Collects the errors of a file so that all are reported at once.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace trainyard::config {

struct Entry;

class Diagnostics {
 public:
  /// Adds "path:line:column: [layer 'x': ]text". Each position is reported once, so that a mistake
  /// in a block called ten times gives one line.
  void error(const Position& where, const std::string& text);
  /// As error(), for a key missing from a map. A map begins at its first key, so an error in that
  /// key may be reported at the same position.
  void missing(const Position& where, const std::string& text);
  /// Prefixes every message with "layer 'x': " while the scope lives.
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
  /// Adds "; called from" this position to every message while the scope lives.
  class CallScope {
   public:
    CallScope(Diagnostics& owner, Position call);
    ~CallScope();
    CallScope(const CallScope&) = delete;
    CallScope& operator=(const CallScope&) = delete;

   private:
    Diagnostics& owner_;
    Position before_;
  };
  /// What the file calls `key`, a key or a path, which the map `what` lacks and which is written as
  /// `entry`: "; here it is ..." for the end of a message, or "".
  using Elsewhere = std::function<std::string(const std::string& key, const Entry& entry,
                                              const std::string& what)>;
  void look_elsewhere(Elsewhere elsewhere) { elsewhere_ = std::move(elsewhere); }
  [[nodiscard]] std::string elsewhere(const std::string& key, const Entry& entry,
                                      const std::string& what) const {
    return elsewhere_ ? elsewhere_(key, entry, what) : "";
  }
  [[nodiscard]] bool empty() const { return messages_.empty(); }
  [[nodiscard]] std::size_t size() const { return messages_.size(); }
  /// Throws Error{config} with one line per error, in file order, if there are any; errors beyond
  /// 100 are only counted.
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
  Position call_;
  Elsewhere elsewhere_;
};

/// The candidate nearest to `word`, or empty if none is near: edit distance at most 1, or 2 for
/// words of 4 letters or more; case is ignored. On a tie, the first that begins like the word, else
/// the first.
[[nodiscard]] std::string nearest(std::string_view word, std::span<const std::string> candidates);
/// "; did you mean 'x'?" for nearest(), else "".
[[nodiscard]] std::string suggestion(std::string_view word,
                                     std::span<const std::string> candidates);

}  // namespace trainyard::config
