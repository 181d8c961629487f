// The layout of a figure, in pixels, and its SVG.
#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/text.h"
#include "graph/figure.h"

namespace trainyard {
namespace {

using Boxes = std::span<const FigureBox>;

constexpr int kLetter = 7;             // width, at least that of most letters
constexpr int kLine = 16;              // height of a line of text
constexpr int kInside = 8;             // between a box's border and its text
constexpr int kGap = 20;               // between boxes, for an arrow
constexpr int kFork = 26;              // from where branches part to their first boxes
constexpr int kBetween = 18;           // between branches
constexpr int kEmpty = 16;             // width of an empty branch
constexpr int kMargin = 24;            // around everything, and between columns
constexpr int kMostHeight = 1000;      // of a column
constexpr int kHead = 2 * kLine + 12;  // of a block's title and subtitle

std::string colour_of(BoxKind kind) {
  static constexpr std::array kColours = {"#cfe2f3", "#e6dcf2", "#d5ecd4", "#fde9c4", "#eeeeee"};
  return kColours[static_cast<std::size_t>(kind)];
}

/// Its lines, with the count of equal boxes.
std::vector<std::string> text_of(const FigureBox& box) {
  std::vector<std::string> lines = box.lines;
  if (box.times > 1) lines.back() += " × " + std::to_string(box.times);
  return lines;
}

/// Bytes that continue a letter of UTF-8 do not count.
int text_width(std::span<const std::string> lines) {
  std::ptrdiff_t letters = 0;
  for (const std::string& line : lines) {
    letters = std::max(letters, std::ranges::count_if(line, [](char byte) {
                         return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
                       }));
  }
  return kLetter * static_cast<int>(letters);
}

int own_width(const FigureBox& box) { return text_width(text_of(box)) + 2 * kInside; }
/// By how much the boxes behind one of several equal ones show.
int shadow(const FigureBox& box) { return box.times > 1 ? 6 : 0; }
int own_height(const FigureBox& box) {
  return kLine * static_cast<int>(box.lines.size()) + 2 * kInside - 4 + shadow(box);
}

int column_width(Boxes boxes);
int column_height(Boxes boxes);

int branch_width(const std::vector<FigureBox>& branch) {
  return branch.empty() ? kEmpty : column_width(branch);
}
int fork_width(const FigureBox& box) {
  int width = -kBetween;
  for (const auto& branch : box.branches) width += branch_width(branch) + kBetween;
  return width;
}
/// 0 for a box without branches.
int fork_height(const FigureBox& box) {
  if (box.branches.empty()) return 0;
  int height = kGap;
  for (const auto& branch : box.branches) height = std::max(height, column_height(branch));
  return height + 2 * kFork;
}
int column_width(Boxes boxes) {
  int width = 0;
  for (const FigureBox& box : boxes) width = std::max({width, own_width(box), fork_width(box)});
  return width;
}
int column_height(Boxes boxes) {
  int height = -kGap;
  for (const FigureBox& box : boxes) height += kGap + fork_height(box) + own_height(box);
  return height;
}

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    out += letter == '&'   ? "&amp;"
           : letter == '<' ? "&lt;"
           : letter == '>' ? "&gt;"
           : letter == '"' ? "&quot;"
                           : std::string(1, letter);
  }
  return out;
}

std::string number(const char* name, int value) {
  return std::string(" ") + name + "=\"" + std::to_string(value) + "\"";
}

/// Draws from top to bottom; positions are of the middle of a column.
class SvgPage {
 public:
  /// Returns the bottom.
  int column(Boxes boxes, int middle, int top);
  void write(const std::string& line, int x, int y, const char* style) {
    body_ += "<text" + number("x", x) + number("y", y) + " " + style + ">" + xml_text(line) +
             "</text>\n";
  }
  void frame(int x, int y, int width, int height) {
    body_ += rectangle(x, y, width, height) + " rx=\"6\" fill=\"#fbfbfb\" stroke=\"#bbbbbb\"/>\n";
  }
  /// An edge down to a box that begins kGap below `top`; where it has branches, their edges go on.
  void enter(const FigureBox& box, int x, int top) {
    line(x, top, x, top + kGap);
    if (box.branches.empty()) head(x, top + kGap);
  }
  void leave(int x, int bottom) {
    line(x, bottom, x, bottom + kGap);
    head(x, bottom + kGap);
  }
  /// From the end of a column to the top of the next one.
  void turn(int x, int bottom, int gap, int next, int top) {
    body_ += "<path d=\"M" + point(x, bottom) + " v10 H" + std::to_string(gap) + " V" +
             std::to_string(top - 14) + " H" + std::to_string(next) + " v10\" " + kEdge + "/>\n";
    head(next, top);
  }
  [[nodiscard]] std::string text(int width, int height) const;

 private:
  static constexpr const char* kEdge = "fill=\"none\" stroke=\"#555555\"";

  static std::string point(int x, int y) { return std::to_string(x) + " " + std::to_string(y); }
  static std::string rectangle(int x, int y, int width, int height) {
    return "<rect" + number("x", x) + number("y", y) + number("width", width) +
           number("height", height);
  }
  void line(int x, int y, int to_x, int to_y) {
    body_ += "<path d=\"M" + point(x, y) + " L" + point(to_x, to_y) + "\" " + kEdge + "/>\n";
  }
  /// An S from one height to another.
  void curve(int x, int y, int to_x, int to_y) {
    const int half = (y + to_y) / 2;
    body_ += "<path d=\"M" + point(x, y) + " C" + point(x, half) + " " + point(to_x, half) + " " +
             point(to_x, to_y) + "\" " + kEdge + "/>\n";
  }
  void head(int x, int y) {
    body_ += "<path d=\"M" + point(x, y) + " l-4 -7 h8 z\" fill=\"#555555\"/>\n";
  }
  void fork(const FigureBox& box, int middle, int top);
  void box(const FigureBox& box, int middle, int top, int width);

  std::string body_;
};

void SvgPage::box(const FigureBox& box, int middle, int top, int width) {
  const int left = middle - width / 2, height = own_height(box) - shadow(box);
  const std::string style = " rx=\"4\" fill=\"" + colour_of(box.kind) + "\" stroke=\"#777777\"";
  body_ += "<g><title>" + xml_text(box.tip) + "</title>\n";
  for (int shift = shadow(box); shift > 0; shift -= 3) {
    body_ += rectangle(left + shift, top + shift, width, height) + style + "/>\n";
  }
  body_ += rectangle(left, top, width, height) + style + "/>\n";
  int y = top + kInside + 10;
  for (const std::string& line : text_of(box)) {
    write(line, middle, y, "text-anchor=\"middle\"");
    y += kLine;
  }
  body_ += "</g>\n";
}

/// The branches from their common start to the top of the join.
void SvgPage::fork(const FigureBox& box, int middle, int top) {
  const int join = top + fork_height(box);
  int left = middle - fork_width(box) / 2;
  for (const auto& branch : box.branches) {
    const int width = branch_width(branch), x = left + width / 2;
    left += width + kBetween;
    curve(middle, top, x, top + kFork - 6);
    int bottom = top + kFork - 6;
    if (!branch.empty()) {
      line(x, bottom, x, top + kFork - 4);
      if (branch.front().branches.empty()) head(x, top + kFork);
      bottom = column(branch, x, top + kFork);
    }
    line(x, bottom, x, join - kFork);
    curve(x, join - kFork, middle, join - 6);
  }
  head(middle, join);
}

int SvgPage::column(Boxes boxes, int middle, int top) {
  int width = 0;
  for (const FigureBox& box : boxes) width = std::max(width, own_width(box));
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const FigureBox& next = boxes[i];
    if (i > 0) {
      if (next.chained) enter(next, middle, top);
      top += kGap;
    }
    if (!next.branches.empty()) fork(next, middle, top);
    top += fork_height(next);
    box(next, middle, top, width);
    top += own_height(next);
  }
  return top;
}

std::string SvgPage::text(int width, int height) const {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\"" + number("width", width) +
         number("height", height) + " viewBox=\"0 0 " + std::to_string(width) + " " +
         std::to_string(height) +
         "\" font-family=\"DejaVu Sans, Verdana, sans-serif\" font-size=\"12\">\n" +
         rectangle(0, 0, width, height) + " fill=\"#ffffff\"/>\n" + body_ + "</svg>\n";
}

constexpr const char* kTitle = "font-size=\"16\" font-weight=\"bold\"";
constexpr const char* kBold = "font-weight=\"bold\"";
constexpr const char* kGrey = "fill=\"#555555\"";
constexpr int kTop = kMargin + 4 * kLine;  // below the title

/// The network in as few columns as kMostHeight allows, all of about the same height.
std::vector<Boxes> network_columns(const std::vector<FigureBox>& network) {
  const int height = column_height(network), count = (height + kMostHeight - 1) / kMostHeight;
  std::vector<Boxes> columns;
  std::size_t begin = 0;
  for (std::size_t i = 1; i < network.size(); ++i) {
    const Boxes part = Boxes(network).subspan(begin, i - begin);
    if (column_height(part) < height / count) continue;
    columns.push_back(part);
    begin = i;
  }
  columns.push_back(Boxes(network).subspan(begin));
  return columns;
}

std::string others_text(const FigureBlock& block) {
  constexpr std::size_t kMost = 3;
  const std::size_t shown = std::min(block.others.size(), kMost);
  if (shown == 0) return "";
  const std::string names = joined(std::span(block.others).first(shown));
  const std::size_t rest = block.others.size() - shown;
  return "also " + names + (rest > 0 ? " and " + std::to_string(rest) + " more" : "");
}

int block_width(const FigureBlock& block) {
  const std::array title = {block.title + "  "}, others = {others_text(block)};
  return std::max({column_width(block.column), text_width(title), text_width(others)}) +
         2 * kMargin;
}
int block_height(const FigureBlock& block) {
  return kHead + column_height(block.column) + 2 * kGap + kInside;
}

void draw_block(const FigureBlock& block, int x, int y, SvgPage& page) {
  const int width = block_width(block), middle = x + width / 2, top = y + kHead + kGap;
  page.frame(x, y, width, block_height(block));
  page.write(block.title, x + kInside, y + kLine + 2, kBold);
  page.write(others_text(block), x + kInside, y + 2 * kLine + 2, kGrey);
  page.enter(block.column.front(), middle, y + kHead);
  const int bottom = page.column(block.column, middle, top);
  page.leave(middle, bottom);
}

/// Draws the network and returns its right and lower edge.
std::pair<int, int> draw_network(const std::vector<FigureBox>& network, SvgPage& page) {
  int x = kMargin, lowest = 0, from = 0, bottom = 0;
  for (const Boxes part : network_columns(network)) {
    const int width = column_width(part), middle = x + width / 2;
    if (from > 0 && part.front().chained) page.turn(from, bottom, x - kMargin / 2, middle, kTop);
    bottom = page.column(part, middle, kTop);
    lowest = std::max(lowest, bottom);
    from = middle;
    x += width + 2 * kMargin;
  }
  return {x, lowest};
}

}  // namespace

std::string svg_text(const Figure& figure) {
  SvgPage page;
  page.write(figure.title, kMargin, kMargin + 10, kTitle);
  page.write(figure.totals, kMargin, kMargin + 10 + kLine + 4, kGrey);
  auto [x, lowest] = draw_network(figure.network, page);
  int most = lowest;
  for (const FigureBlock& block : figure.blocks) most = std::max(most, kTop + block_height(block));
  int y = kTop, widest = 0;
  for (const FigureBlock& block : figure.blocks) {
    if (y > kTop && y + block_height(block) > most) {
      x += widest + kMargin;
      y = kTop;
      widest = 0;
    }
    draw_block(block, x, y, page);
    y += block_height(block) + kMargin;
    widest = std::max(widest, block_width(block));
  }
  const std::array heading = {figure.title, figure.totals};
  const int width = std::max(x + widest, text_width(heading) + kMargin) + kMargin;
  return page.text(width, most + kMargin);
}

}  // namespace trainyard
