#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "rules.h"

namespace trainyard::layers {

namespace {

enum class Brace { scope, table, function, inner };

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end])))
      return true;
  }
  return false;
}

/// `text` without the parts between `open` and `close`, which remain. Empty if they do not balance.
std::string outside(std::string_view text, char open, char close) {
  std::string out;
  int depth = 0;
  for (const char c : text) {
    if (c == close) --depth;
    if (depth == 0) out += c;
    if (c == open) ++depth;
  }
  return depth == 0 ? out : std::string();
}

/// `head` starting at its first word, without access labels and `template <...>`.
std::string_view declaration(std::string_view head) {
  for (const std::string_view label : {"public:", "protected:", "private:"}) {
    const std::size_t at = head.rfind(label);
    if (at != std::string_view::npos) head.remove_prefix(at + label.size());
  }
  head.remove_prefix(std::min(head.find_first_not_of(" \t\n"), head.size()));
  return head;
}

bool is_scope(std::string_view head) {
  std::string text(head);
  if (text.starts_with("template")) {
    text = outside(text, '<', '>');
    text.erase(0, text.find('>') + 1);
  }
  const std::string_view first = declaration(text);
  constexpr std::array<std::string_view, 7> kScopes = {
      "namespace", "inline namespace", "struct", "class", "union", "enum", "TEST_SUITE"};
  return std::ranges::any_of(kScopes, [&](auto word) { return first.starts_with(word); });
}

/// True for `const T x[] =` (in a function: static or constexpr): a constant whose braced value
/// follows.
bool opens_table(std::string_view head, bool in_function) {
  const std::string text = outside(head, '(', ')');
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || text.find('[', equals) != std::string::npos) return false;
  if (has_word(text, "constexpr")) return true;
  return has_word(text, "const") && (!in_function || has_word(text, "static"));
}

/// The kind of block that the brace after `head` opens, given the enclosing block.
Brace classify(std::string_view head, Brace outer) {
  if (opens_table(head, outer != Brace::scope)) return Brace::table;
  if (outer != Brace::scope) return Brace::inner;
  const bool called = outside(head, '(', ')').find("()") != std::string::npos;
  return called && !is_scope(head) ? Brace::function : Brace::scope;
}

struct Open {
  Brace brace;
  int line;  // line of the head's first word
  std::string head;
  int table_lines = 0;  // inside, not counted
};

std::string last_line(std::string_view head) {
  const std::size_t end = head.find_last_not_of(" \t\n");
  if (end == std::string_view::npos) return {};
  const std::size_t begin = head.rfind('\n', end);
  return std::string(head.substr(begin + 1, end - begin));
}

/// Walks the braces of a file, collecting functions and the lines of constant tables.
class Walker {
 public:
  explicit Walker(const SourceFile& file) : code_(without_directives(file.code)) { walk(); }
  [[nodiscard]] const std::vector<FunctionSpan>& functions() const { return functions_; }
  [[nodiscard]] int table_lines() const { return table_lines_; }

 private:
  static std::string without_directives(std::string code);
  void walk();
  void open(std::size_t at);
  void close(std::size_t at);

  std::string code_;
  std::vector<Open> stack_;
  std::vector<FunctionSpan> functions_;
  int table_lines_ = 0;
  std::size_t head_ = 0;  // where the head of the next brace begins
};

std::string Walker::without_directives(std::string code) {
  bool directive = false;
  bool line_start = true;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i] == '\n') {
      directive = directive && i > 0 && code[i - 1] == '\\';
      line_start = true;
      continue;
    }
    if (line_start && code[i] == '#') directive = true;
    if (code[i] != ' ' && code[i] != '\t') line_start = false;
    if (directive && code[i] != '\\') code[i] = ' ';
  }
  return code;
}

void Walker::walk() {
  int parentheses = 0;
  for (std::size_t at = 0; at < code_.size(); ++at) {
    const char c = code_[at];
    if (c == '(') ++parentheses;
    if (c == ')') --parentheses;
    if (c == '{') open(at);
    if (c == '}') close(at);
    if (c == '{' || c == '}' || (c == ';' && parentheses == 0)) head_ = at + 1;
  }
}

void Walker::open(std::size_t at) {
  const std::string_view head = declaration(std::string_view(code_).substr(head_, at - head_));
  const Brace outer = stack_.empty() ? Brace::scope : stack_.back().brace;
  stack_.push_back({classify(head, outer), line_of(code_, at - head.size()), last_line(head)});
}

void Walker::close(std::size_t at) {
  if (stack_.empty()) return;
  const Open closed = stack_.back();
  stack_.pop_back();
  const int lines = line_of(code_, at) - closed.line + 1;
  const bool inside_table = !stack_.empty() && stack_.back().brace == Brace::table;
  const bool table_of_lines = closed.brace == Brace::table && !inside_table && lines > 1;
  const int table = table_of_lines ? lines : closed.table_lines;
  if (closed.brace == Brace::function) {
    functions_.push_back({closed.head, closed.line, lines - closed.table_lines});
  }
  if (stack_.empty() || stack_.back().brace == Brace::scope) table_lines_ += table;
  if (!stack_.empty()) stack_.back().table_lines += table;
}

}  // namespace

std::vector<FunctionSpan> functions_of(const SourceFile& file) { return Walker(file).functions(); }

std::vector<Finding> long_functions(const SourceFile& file) {
  std::vector<Finding> findings;
  for (const FunctionSpan& function : functions_of(file)) {
    if (function.lines <= kLongestFunction) continue;
    findings.push_back({file.path, function.line,
                        "function of " + std::to_string(function.lines) + " lines, at most " +
                            std::to_string(kLongestFunction) + ": " + function.head});
  }
  return findings;
}

std::vector<Finding> long_files(const SourceFile& file) {
  const int lines = static_cast<int>(lines_of(file.text).size()) - Walker(file).table_lines();
  if (lines <= kLongestFile) return {};
  return {{file.path, 1,
           "file of " + std::to_string(lines) + " lines, at most " + std::to_string(kLongestFile)}};
}

std::vector<Finding> scattered_ops(const std::vector<SourceFile>& files) {
  std::vector<Finding> findings;
  for (const SourceFile& header : files) {
    if (!header.under("src/ops/") || !header.is_header()) continue;
    const auto stem = std::filesystem::path(header.path).stem();
    const auto count = std::ranges::count_if(files, [&](const SourceFile& file) {
      return (file.under("src/ops/") || file.under("src/compute/")) &&
             std::filesystem::path(file.path).stem() == stem;
    });
    if (count <= kFilesOfAnOp) continue;
    findings.push_back(
        {header.path, 1,
         std::to_string(count) + " files of one op, at most " + std::to_string(kFilesOfAnOp)});
  }
  return findings;
}

}  // namespace trainyard::layers
