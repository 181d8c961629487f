#include "config/expression.h"

#include <doctest/doctest.h>

#include "config/load.h"
#include "support.h"

using namespace trainyard;
using namespace trainyard::config;

namespace {

Scope scope() {
  Scope names;
  const Node vars = parse_yaml(
      "{n: 18, classes: 10, width: 2.5, project: true, act: relu, "
      "sizes: [1, 2], stem: {f: 64, table: [[1, 2], [3, {k: 7}]]}, none: []}",
      "vars.yaml");
  for (const Entry& entry : vars.entries) names.emplace(entry.key, entry.value);
  return names;
}

// The value as YAML, or the message.
std::string value(const std::string& text) {
  Diagnostics diagnostics;
  const Node result = evaluate(scalar_node(text, false, {"t.yaml", 3, 7}), scope(), diagnostics);
  const std::string message = message_of([&] { diagnostics.raise(); });
  if (!message.empty()) return message;
  const std::string line = to_yaml(result);
  return line.substr(0, line.size() - 1);
}

std::string error(const std::string& text, const std::string& reason) {
  return "t.yaml:3:7: cannot evaluate '" + text + "': " + reason;
}

}  // namespace

TEST_CASE("integers stay integers and division gives reals") {
  CHECK(value("$n - 1") == "17");
  CHECK(value("$6 / 3") == "2.0");
  CHECK(value("$6 // 4") == "1");
  CHECK(value("$2 ** 10") == "1024");
  CHECK(value("$2 ** -1") == "0.5");
  CHECK(value("$width * 2") == "5.0");
  CHECK(value("$1/255") == "0.00392156862745098");
  CHECK(value("$0.1 + 0.2") == "0.30000000000000004");
}

TEST_CASE("floor division and modulo round down as in Python") {
  CHECK(value("$-7 // 2") == "-4");
  CHECK(value("$-7 % 2") == "1");
  CHECK(value("$7 // -2") == "-4");
  CHECK(value("$7 % -2") == "-1");
  CHECK(value("$-7.5 // 2") == "-4.0");
  CHECK(value("$-7.5 % 2") == "0.5");
  CHECK(value("$1 // 0.1") == "9.0");
}

TEST_CASE("precedence is Python's") {
  CHECK(value("$2 + 3 * 4") == "14");
  CHECK(value("$(2 + 3) * 4") == "20");
  CHECK(value("$-2 ** 2") == "-4");
  CHECK(value("$2 ** 3 ** 2") == "512");
  CHECK(value("$2 ** -1 * 4") == "2.0");
  CHECK(value("$10 - 4 - 3") == "3");
  CHECK(value("$not 1 > 2 and true") == "true");
  CHECK(value("$true or false and false") == "true");
  CHECK(value("$1 if false else 2 if false else 3") == "3");
  CHECK(value("$+n - -n") == "36");
}

TEST_CASE("comparisons and choices") {
  CHECK(value("$n > 1") == "true");
  CHECK(value("$n == 18.0") == "true");
  CHECK(value("$act == 'relu'") == "true");
  CHECK(value("$act != \"relu\"") == "false");
  CHECK(value("$act == 1") == "false");
  CHECK(value("$9007199254740993 > 9007199254740992") == "true");
  CHECK(value("$1 if project else 2") == "1");
  CHECK(value("$'a' if not project else 'b'") == "b");
}

TEST_CASE("a branch that is not taken is not computed") {
  CHECK(value("$1 if true else 1 / 0") == "1");
  CHECK(value("$false and 1 / 0 > 1") == "false");
}

TEST_CASE("functions") {
  CHECK(value("$min(3, 2, 5)") == "2");
  CHECK(value("$max(1, 2.5)") == "2.5");
  CHECK(value("$int(-2.7)") == "-2");
  CHECK(value("$int(n / 4)") == "4");
}

TEST_CASE("a name gives its value with its type") {
  CHECK(value("$act") == "relu");
  CHECK(value("$sizes") == "[1, 2]");
  CHECK(value("${n + 1}") == "19");
}

TEST_CASE("elements of lists and fields of maps are read, in chains and inside text") {
  CHECK(value("$sizes[0] + sizes[1]") == "3");
  CHECK(value("$sizes[n - 17]") == "2");
  CHECK(value("$stem.f // 2") == "32");
  CHECK(value("$stem.table[1][1].k ** 2") == "49");
  CHECK(value("$stem . table [0]") == "[1, 2]");
  CHECK(value("$(sizes if project else none)[1]") == "2");
  CHECK(value("$(stem if project else n).f") == "64");
  CHECK(value("$sizes[sizes[0]]") == "2");
  CHECK(value("$-sizes[1]") == "-2");
  CHECK(value("w${stem.f}x${sizes[1]}") == "w64x2");
  CHECK(value("$sizes[9] if not project else 0") == "0");
}

TEST_CASE("an element or a field that does not exist is an error with what there is") {
  CHECK(value("$sizes[2]") ==
        error("$sizes[2]", "index 2 is out of range; the list has items 0 to 1"));
  CHECK(value("$sizes[-1]") ==
        error("$sizes[-1]", "index -1 is out of range; the list has items 0 to 1"));
  CHECK(value("$none[0]") == error("$none[0]", "index 0 is out of range; the list is empty"));
  CHECK(value("$stem.table[1][1].k[0]") ==
        error("$stem.table[1][1].k[0]", "expected a list before '[', found number 7"));
  CHECK(value("$sizes[1.0]") ==
        error("$sizes[1.0]", "expected a whole number as index, found number 1.0"));
  CHECK(value("$stem[0]") == error("$stem[0]", "expected a list before '[', found a map"));
  CHECK(value("$stem.tabel") ==
        error("$stem.tabel", "the map has no field 'tabel'; did you mean 'table'?"));
  CHECK(value("$stem.kernel") ==
        error("$stem.kernel", "the map has no field 'kernel'; it has f, table"));
  CHECK(value("$act.f") == error("$act.f", "expected a map before '.f', found text 'relu'"));
  CHECK(value("$sizes[0") == error("$sizes[0", "expected ']', found the end"));
  CHECK(value("$stem.") == error("$stem.", "expected the name of a field, found the end"));
  CHECK(value("$stem.5") == error("$stem.5", "expected an operator, found '.5'"));
  CHECK(value("$[0]") == error("$[0]", "expected a value, found '['"));
}

TEST_CASE("expressions can be inside text") {
  CHECK(value("run-${n}-${act}") == "run-18-relu");
  CHECK(value("${n}x") == "18x");
  CHECK(value("${n}${classes}") == "\"1810\"");
  CHECK(value("depth ${6 * n + 2}: ${project}") == "\"depth 110: true\"");
}

TEST_CASE("unknown names are reported with the nearest one") {
  CHECK(value("$clases + 1") ==
        "t.yaml:3:7: unknown name 'clases' in '$clases + 1'; did you mean 'classes'?");
  CHECK(value("$zzz") ==
        "t.yaml:3:7: unknown name 'zzz' in '$zzz'; the names are act, classes, n, none, project, "
        "sizes, stem, width");
  CHECK(value("$1 if true else widht").find("unknown name 'widht'") != std::string::npos);
}

TEST_CASE("an expression that cannot be evaluated is an error with the reason") {
  CHECK(value("$n / 0") == error("$n / 0", "division by zero"));
  CHECK(value("$n % 0") == error("$n % 0", "division by zero"));
  CHECK(value("$0 ** -1") == error("$0 ** -1", "division by zero"));
  CHECK(value("$2 ** 63") == error("$2 ** 63", "the result is beyond 64-bit whole numbers"));
  CHECK(value("$9223372036854775807 + 1") ==
        error("$9223372036854775807 + 1", "the result is beyond 64-bit whole numbers"));
  CHECK(value("$1e308 * 10") == error("$1e308 * 10", "the result is not a finite number"));
  CHECK(value("$(0 - 8) ** 0.5") == error("$(0 - 8) ** 0.5", "the result is not a finite number"));
  CHECK(value("$int(1e19)") == error("$int(1e19)", "the result is beyond 64-bit whole numbers"));
  CHECK(value("$act + 1") == error("$act + 1", "expected a number, found text 'relu'"));
  CHECK(value("$1 if n else 2") ==
        error("$1 if n else 2", "expected true or false, found number 18"));
  CHECK(value("$act < 'z'") == error("$act < 'z'", "expected a number, found text 'relu'"));
  CHECK(value("x${sizes}") ==
        error("x${sizes}", "expected a number or text inside text, found a list"));
}

TEST_CASE("bad syntax is an error with what was expected") {
  CHECK(value("$") == error("$", "expected a value, found the end"));
  CHECK(value("$n -") == error("$n -", "expected a value, found the end"));
  CHECK(value("$n 2") == error("$n 2", "expected an operator, found '2'"));
  CHECK(value("$(n") == error("$(n", "expected ')', found the end"));
  CHECK(value("$1 if true") == error("$1 if true", "expected 'else', found the end"));
  CHECK(value("$1 < 2 < 3") ==
        error("$1 < 2 < 3", "comparisons do not chain; join them with 'and'"));
  CHECK(value("$n ^ 2") == error("$n ^ 2", "'^' is not part of an expression"));
  CHECK(value("$log(2)") ==
        error("$log(2)", "'log' is not a function; the functions are min, max and int"));
  CHECK(value("$int(1, 2)") == error("$int(1, 2)", "'int' takes one value"));
  CHECK(value("$2n") == error("$2n", "'2n' is not a number"));
  CHECK(value("$'a") == error("$'a", "the quote ' is not closed"));
  CHECK(value("a${n") == error("a${n", "'${' is not closed by '}'"));
  CHECK(value("$010").find("looks octal") != std::string::npos);
}

TEST_CASE("hostile expressions are bounded") {
  const std::string deep = "$" + std::string(70, '(') + "1" + std::string(70, ')');
  CHECK(value(deep).find("nested deeper than 64 levels") != std::string::npos);
  CHECK(value("$" + std::string(60000, '-') + "1").find("more than 1000 tokens") !=
        std::string::npos);
  CHECK(value("$" + std::string(500, '-') + "1").find("nested deeper") != std::string::npos);
  std::string sum = "$1";
  for (int i = 0; i < 499; ++i) sum += "+1";
  CHECK(value(sum) == "500");
  CHECK(value("$3 ** 3 ** 3 ** 3").find("beyond 64-bit") != std::string::npos);
}

TEST_CASE("resolved replaces every expression of a tree and nothing else") {
  Diagnostics diagnostics;
  const Node tree = parse_yaml("{a: $n, b: [x, '$n - 1'], c: {d: 'r${n}'}, e: 5}", "t.yaml");
  const Node result = resolved(tree, scope(), diagnostics);
  CHECK(diagnostics.empty());
  CHECK(same_value(result, parse_yaml("{a: 18, b: [x, 17], c: {d: r18}, e: 5}", "t.yaml")));
  CHECK(result.find("b")->items[1].where == tree.find("b")->items[1].where);
}
