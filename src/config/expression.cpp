#include "config/expression.h"

#include "base/text.h"
#include "config/arithmetic.h"
#include "config/expression_tree.h"
#include "config/load.h"
#include "config/scalars.h"

namespace trainyard::config {
namespace {

using TermKind = Term::Kind;

constexpr std::size_t kResultBytes = 64 << 10;

// An unknown name has its own message.
struct UnknownName {
  std::string name;
};

class Evaluation {
 public:
  Evaluation(const ExpressionTree& tree, const Scope& scope) : tree_(tree), scope_(scope) {}

  Node value(std::size_t index) const {
    const Term& term = tree_.terms[index];
    if (const Node* stored = stored_value(index)) return *stored;
    switch (term.kind) {
      case TermKind::element:
        return element_of(operand(term, 0), operand(term, 1));
      case TermKind::field:
        return field_of(operand(term, 0), term.name);
      case TermKind::call:
        return called(term);
      case TermKind::negate:
        return negated(operand(term, 0));
      case TermKind::plus: {
        const Node number = operand(term, 0);
        require_number(number);
        return number;
      }
      case TermKind::logical_not:
        return boolean_node(!truth(operand(term, 0)));
      case TermKind::logical_and:
        return boolean_node(truth(operand(term, 0)) && truth(operand(term, 1)));
      case TermKind::logical_or:
        return boolean_node(truth(operand(term, 0)) || truth(operand(term, 1)));
      case TermKind::choice:
        return operand(term, truth(operand(term, 1)) ? 0 : 2);
      default:
        break;
    }
    const Node left = operand(term, 0);
    const Node right = operand(term, 1);
    return term.kind >= TermKind::less ? comparison(term.kind, left, right)
                                       : arithmetic(term.kind, left, right);
  }

  /// Names in branches not taken are also looked up: a misspelt one is an error.
  void check_names() const {
    for (const Term& term : tree_.terms) {
      if (term.kind == TermKind::name) static_cast<void>(named(term.name));
    }
  }

 private:
  Node operand(const Term& term, std::size_t index) const { return value(term.operands[index]); }

  /// A value that exists already, so that reading an element copies no list; else null.
  const Node* stored_value(std::size_t index) const {
    const Term& term = tree_.terms[index];
    if (term.kind == TermKind::literal) return &term.value;
    if (term.kind == TermKind::name) return &named(term.name);
    if (term.kind != TermKind::element && term.kind != TermKind::field) return nullptr;
    const Node* const whole = stored_value(term.operands[0]);
    if (whole == nullptr) return nullptr;
    return term.kind == TermKind::field ? &field_of(*whole, term.name)
                                        : &element_of(*whole, operand(term, 1));
  }

  const Node& named(const std::string& name) const {
    const auto found = scope_.find(name);
    if (found == scope_.end()) throw UnknownName{name};
    return found->second;
  }

  Node called(const Term& term) const {
    std::vector<Node> arguments;
    for (const std::size_t index : term.operands) arguments.push_back(value(index));
    if (term.name == "int") return truncated(arguments[0]);
    return extreme(arguments, term.name == "max");
  }

  const ExpressionTree& tree_;
  const Scope& scope_;
};

Node value_of(std::string_view text, const Scope& scope) {
  const ExpressionTree tree = parse_expression(text);
  const Evaluation evaluation(tree, scope);
  evaluation.check_names();
  return evaluation.value(tree.root);
}

bool begins_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

void append_value(const Node& value, std::string& out) {
  if (!value.is_scalar() || value.kind == Node::Kind::null) {
    throw ExpressionError("expected a number or text inside text, found " + describe(value));
  }
  out += value.text;
  if (out.size() > kResultBytes) {
    throw ExpressionError("the result is longer than " + std::to_string(kResultBytes) + " bytes");
  }
}

// Text with `${...}`. A single one with no text around it keeps its type.
Node interpolated(std::string_view text, const Scope& scope) {
  std::string out;
  const bool begins = begins_with(text, "${");
  while (true) {
    const std::size_t begin = text.find("${");
    out += text.substr(0, begin);
    if (begin == text.npos) return scalar_node(std::move(out), true, {});
    const std::size_t end = text.find('}', begin);
    if (end == text.npos) throw ExpressionError("'${' is not closed by '}'");
    const Node value = value_of(text.substr(begin + 2, end - begin - 2), scope);
    text.remove_prefix(end + 1);
    if (begins && out.empty() && text.empty()) return value;
    append_value(value, out);
  }
}

std::string unknown_text(const std::string& name, const std::string& text, const Scope& scope) {
  std::vector<std::string> names;
  for (const auto& [known, value] : scope) names.push_back(known);
  std::string hint = suggestion(name, names);
  if (hint.empty()) {
    hint = names.empty() ? "; no variables are defined here" : "; the names are " + joined(names);
  }
  return "unknown name '" + name + "' in '" + shortened(text) + "'" + hint;
}

/// True if the scalar contains an expression, quoted or not.
bool has_expression(const Node& scalar) {
  if (scalar.kind != Node::Kind::text) return false;
  return begins_with(scalar.text, "$") || scalar.text.find("${") != std::string::npos;
}

}  // namespace

Node evaluate(const Node& scalar, const Scope& scope, Diagnostics& diagnostics) {
  Node result;
  if (!has_expression(scalar)) return scalar;
  try {
    const std::string& text = scalar.text;
    const bool whole = begins_with(text, "$") && !begins_with(text, "${");
    result = whole ? value_of(std::string_view(text).substr(1), scope) : interpolated(text, scope);
  } catch (const UnknownName& unknown) {
    diagnostics.error(scalar.where, unknown_text(unknown.name, scalar.text, scope));
    result = {};
  } catch (const ExpressionError& error) {
    diagnostics.error(scalar.where,
                      "cannot evaluate '" + shortened(scalar.text) + "': " + error.what());
    result = {};
  }
  result.where = scalar.where;
  if (result.is_scalar()) result.expression = scalar.text;
  return result;
}

namespace {

/// Copies a tree with its expressions replaced by their values. Lists of lists of a variable could
/// grow without bound, so the values have the limits of a file.
class Resolution {
 public:
  Resolution(const Scope& scope, Diagnostics& diagnostics)
      : scope_(scope), diagnostics_(diagnostics) {}

  Node resolve(const Node& node, std::size_t depth) {
    if (node.is_scalar()) return evaluated(node, depth);
    Node copy = node;
    for (Node& item : copy.items) item = resolve(item, depth + 1);
    for (Entry& entry : copy.entries) entry.value = resolve(entry.value, depth + 1);
    return copy;
  }

 private:
  Node evaluated(const Node& scalar, std::size_t depth) {
    if (refused_) return {};  // thousands of lists would still be made, to be refused
    const FileLimits limits;
    Node value = evaluate(scalar, scope_, diagnostics_);
    if (value.is_scalar()) return value;
    const TreeSize size = size_of(value);
    values_ += size.values;
    if (values_ > limits.nodes) {
      refuse(scalar, "more than " + std::to_string(limits.nodes) + " values");
      return {};
    }
    if (depth + size.depth > limits.depth) {
      refuse(scalar, "values nested deeper than " + std::to_string(limits.depth) + " levels");
      return {};
    }
    return value;
  }
  void refuse(const Node& scalar, const std::string& what) {
    diagnostics_.error(scalar.where, "'" + scalar.text + "' makes " + what);
    refused_ = true;
  }

  const Scope& scope_;
  Diagnostics& diagnostics_;
  std::size_t values_ = 0;
  bool refused_ = false;
};

}  // namespace

Node resolved(const Node& node, const Scope& scope, Diagnostics& diagnostics) {
  return Resolution(scope, diagnostics).resolve(node, 1);
}

}  // namespace trainyard::config
