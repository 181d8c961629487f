#include <map>
#include <optional>
#include <regex>
#include <string>

#include "rules.h"

namespace trainyard::layers {
namespace {

const std::regex kNamespace(R"((?:inline )?namespace ([\w:]+)$)");
const std::regex kType(
    R"((?:template <[^;]*> )?(?:struct|class|union|enum|enum class|enum struct) (?:alignas\([^)]*\) )?(\w+)(?: final)?(?: ?:[^:].*)?$)");

/// `text` in one line, with single spaces.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\t';
    if (!blank) line += c;
    if (blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

/// Follows the braces of a header.
class TypeScan {
 public:
  explicit TypeScan(const SourceFile& file) : code_(file.code) {}

  /// Calls `found` with the qualified name and the place of each type.
  template <class F>
  void run(const F& found) {
    std::size_t begin = 0;  // begin of what precedes a brace
    for (std::size_t at = 0; at < code_.size(); ++at) {
      if (code_[at] == '{') {
        const std::string head = one_line(std::string_view(code_).substr(begin, at - begin));
        open(head);
        if (is_type_ && named()) found(qualified(), at);
      }
      if (code_[at] == '}' && !scopes_.empty()) scopes_.pop_back();
      if (code_[at] == '{' || code_[at] == '}' || code_[at] == ';') begin = at + 1;
      if (code_[at] == '#') at = begin = std::min(code_.find('\n', at), code_.size() - 1);
    }
  }

 private:
  void open(const std::string& head) {
    std::smatch match;
    is_type_ = std::regex_search(head, match, kType);
    const bool space = !is_type_ && std::regex_search(head, match, kNamespace);
    scopes_.push_back(is_type_ || space ? std::optional(match[1].str()) : std::nullopt);
  }
  /// False within functions and namespaces without a name.
  [[nodiscard]] bool named() const {
    for (const auto& scope : scopes_) {
      if (!scope) return false;
    }
    return true;
  }
  [[nodiscard]] std::string qualified() const {
    std::string name;
    for (const auto& scope : scopes_) name += (name.empty() ? "" : "::") + *scope;
    return name;
  }

  const std::string& code_;
  std::vector<std::optional<std::string>> scopes_;
  bool is_type_ = false;
};

}  // namespace

std::vector<Finding> types_of_one_name(const std::vector<SourceFile>& files) {
  std::map<std::string, const SourceFile*> known;
  std::vector<Finding> findings;
  for (const SourceFile& file : files) {
    if (!file.is_header()) continue;
    TypeScan(file).run([&](const std::string& name, std::size_t at) {
      const auto [first, added] = known.emplace(name, &file);
      if (added) return;
      findings.push_back({file.path, line_of(file.text, at),
                          "a second " + name + ", beside that of " + first->second->path +
                              ": rename one of them"});
    });
  }
  return findings;
}

}  // namespace trainyard::layers
