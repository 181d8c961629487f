#include "config/diagnostics.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.h"

namespace trainyard::config {
namespace {

constexpr std::size_t kShownMessages = 100;
constexpr std::size_t kNear = 2;  // edits

std::string located(const Position& where, const std::string& text) {
  const std::string place = where.text();
  return place.empty() ? text : place + ": " + text;
}

}  // namespace

Diagnostics::LayerScope::LayerScope(Diagnostics& owner, std::string path)
    : owner_(owner), before_(std::exchange(owner.layer_, std::move(path))) {}

Diagnostics::LayerScope::~LayerScope() { owner_.layer_ = std::move(before_); }

Diagnostics::CallScope::CallScope(Diagnostics& owner, Position call)
    : owner_(owner), before_(std::exchange(owner.call_, std::move(call))) {}

Diagnostics::CallScope::~CallScope() { owner_.call_ = std::move(before_); }

void Diagnostics::error(const Position& where, const std::string& text) { add(where, text, false); }

void Diagnostics::missing(const Position& where, const std::string& text) {
  add(where, text, true);
}

void Diagnostics::add(const Position& where, const std::string& text, bool about_map) {
  const std::string place = where.known() ? where.text() : where.file + ": " + text;
  if (!seen_.insert((about_map ? "map " : "key ") + place).second) return;
  std::string whole = layer_.empty() ? text : "layer '" + layer_ + "': " + text;
  const bool here = call_.file == where.file && call_.line == where.line;
  if (call_.known() && !here) whole += "; called from " + call_.text();
  messages_.push_back({where, std::move(whole)});
}

void Diagnostics::raise() const {
  if (messages_.empty()) return;
  // Files in the order of their first error, lines and columns within them.
  std::map<std::string, std::size_t> files;
  for (const Message& message : messages_) files.emplace(message.where.file, files.size());
  std::vector<const Message*> order;
  for (const Message& message : messages_) order.push_back(&message);
  std::stable_sort(order.begin(), order.end(), [&](const Message* a, const Message* b) {
    return std::tuple(files.at(a->where.file), a->where.line, a->where.column) <
           std::tuple(files.at(b->where.file), b->where.line, b->where.column);
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(order.size(), kShownMessages); ++i) {
    if (i > 0) text += '\n';
    text += located(order[i]->where, order[i]->text);
  }
  if (order.size() > kShownMessages) {
    text += "\nand " + std::to_string(order.size() - kShownMessages) + " more errors";
  }
  throw config_error(text);
}

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  const std::string lower = lower_case(word.substr(0, 256));
  const std::size_t limit = std::clamp<std::size_t>(lower.size() / 2, 1, kNear);
  // By distance, then by how the word begins.
  std::pair best{limit + 1, false};
  std::string found;
  for (const std::string& candidate : candidates) {
    const std::string other = lower_case(candidate);
    // Replacing the letter of a one-letter word leaves nothing: "b" is near "bn", not "x".
    if (lower.empty() || other.empty() || (lower.size() == 1 && other.find(lower) == other.npos)) {
      continue;
    }
    const std::pair rank{edit_distance(lower, other, limit), other[0] != lower[0]};
    if (rank.first > limit || !(rank < best)) continue;
    best = rank;
    found = candidate;
  }
  return found;
}

std::string suggestion(std::string_view word, std::span<const std::string> candidates) {
  const std::string found = nearest(word, candidates);
  return found.empty() ? "" : "; did you mean '" + found + "'?";
}

}  // namespace trainyard::config
