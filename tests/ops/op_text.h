// Ops from YAML, for tests of what their attributes say.
#pragma once

#include <memory>
#include <string>

#include "config/diagnostics.h"
#include "config/fields.h"
#include "config/load.h"
#include "ops/op.h"

namespace trainyard::test {

/// An op from YAML such as "conv: [64, 3]". Throws Error{config}.
inline std::unique_ptr<Op> op_from(const std::string& yaml,
                                   config::Profile profile = config::Profile::keras2) {
  const config::Node node = config::parse_yaml("op: " + yaml, "test.yaml");
  config::Diagnostics diagnostics;
  config::Fields fields(node, nullptr, "test", profile, diagnostics);
  std::unique_ptr<Op> op;
  fields.required_one_of("op", op, "the op", op_kinds());
  fields.finish();
  diagnostics.raise();
  return op;
}

}  // namespace trainyard::test
