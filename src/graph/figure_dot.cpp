// A figure in the language of Graphviz, whose `dot` lays it out.
#include <algorithm>
#include <array>
#include <span>

#include "base/text.h"
#include "graph/figure.h"

namespace trainyard {
namespace {

std::string colour_of(BoxKind kind) {
  static constexpr std::array kColours = {"#cfe2f3", "#e6dcf2", "#d5ecd4", "#fde9c4", "#eeeeee"};
  return kColours[static_cast<std::size_t>(kind)];
}

/// As a quoted string, in which a new line is a line of the label.
std::string dot_string(std::string_view text) {
  std::string out = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') out += '\\';
    out += letter == '\n' ? std::string("\\n") : std::string(1, letter);
  }
  return out + "\"";
}

/// Its lines, with the count of equal boxes.
std::string label_of(const FigureBox& box) {
  return joined(box.lines, "\n") + (box.times > 1 ? " × " + std::to_string(box.times) : "");
}

class DotPage {
 public:
  /// Adds boxes below the box `from`, if it is not "". Returns the name of the last one.
  std::string column(std::span<const FigureBox> boxes, std::string from) {
    for (const FigureBox& next : boxes) {
      const std::string name = "b" + std::to_string(count_++);
      if (box(next, name); next.branches.empty() && next.chained) edge(from, name);
      for (const auto& branch : next.branches) edge(column(branch, from), name);
      from = name;
    }
    return from;
  }
  void block(const FigureBlock& block) {
    text_ += "subgraph cluster" + std::to_string(count_++) + " {\n" +
             "label=" + dot_string(block.title + others_text(block)) +
             " style=rounded color=\"#bbbbbb\"\n";
    column(block.column, "");
    text_ += "}\n";
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void box(const FigureBox& box, const std::string& name) {
    text_ += name + " [label=" + dot_string(label_of(box)) + " tooltip=" + dot_string(box.tip) +
             " fillcolor=\"" + colour_of(box.kind) + "\"" +
             (box.times > 1 ? " peripheries=2" : "") + "]\n";
  }
  void edge(const std::string& from, const std::string& to) {
    if (!from.empty()) text_ += from + " -> " + to + "\n";
  }
  static std::string others_text(const FigureBlock& block) {
    constexpr std::size_t kMost = 3;
    const std::size_t shown = std::min(block.others.size(), kMost);
    const std::size_t rest = block.others.size() - shown;
    if (shown == 0) return "";
    return "\nalso " + joined(std::span(block.others).first(shown)) +
           (rest > 0 ? " and " + std::to_string(rest) + " more" : "");
  }

  std::string text_;
  int count_ = 0;
};

}  // namespace

std::string dot_text(const Figure& figure) {
  constexpr const char* kLook =
      "graph [labelloc=t labeljust=l fontname=\"DejaVu Sans\" fontsize=12]\n"
      "node [shape=box style=\"filled,rounded\" color=\"#777777\" fontname=\"DejaVu Sans\" "
      "fontsize=10]\n"
      "edge [color=\"#555555\" arrowsize=0.7]\n";
  DotPage page;
  page.column(figure.network, "");
  for (const FigureBlock& block : figure.blocks) page.block(block);
  return "digraph {\n" + std::string(kLook) +
         "label=" + dot_string(figure.title + "\n" + figure.totals) + "\n" + page.text() + "}\n";
}

}  // namespace trainyard
