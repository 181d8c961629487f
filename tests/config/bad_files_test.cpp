#include "bad_files.h"

#include "config/expression.h"
#include "sample.h"
#include "support.h"

using namespace trainyard;
using namespace trainyard::config;

namespace {

template <class T>
void read_as(const Node& node, const std::string& what) {
  Diagnostics diagnostics;
  const Scope scope = {{"n", scalar_node("3", false, {})},
                       {"classes", scalar_node("10", false, {})}};
  const Node values = resolved(node, scope, diagnostics);
  Fields fields(values, nullptr, what, Profile::keras2, diagnostics);
  T out;
  declare(fields, out);
  fields.finish();
  diagnostics.raise();
}

}  // namespace

TEST_CASE("every bad file gets its exact message") {
  const std::size_t count =
      check_bad_files(std::string(TY_SOURCE_DIR) + "/tests/config/bad", [](const BadFile& file) {
        const Node node = parse_yaml(file.text, file.name);
        if (file.as == "run") read_as<sample::Run>(node, "run");
        if (file.as == "window") read_as<sample::Window>(node, "window");
      });
  CHECK(count >= 60);
}
