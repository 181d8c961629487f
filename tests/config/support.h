// Shared by the tests of config.
#pragma once

#include <string>

#include "config/diagnostics.h"
#include "config/fields.h"
#include "config/load.h"

namespace trainyard::config {

/// The message that `run` throws as an Error, or "" if it throws none.
template <class Run>
std::string message_of(Run&& run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Reads `yaml` into `out` by its declarations; the messages, or "".
template <class T>
std::string read_into(const std::string& yaml, T& out, const std::string& what = "",
                      const Node* defaults = nullptr) {
  return message_of([&] {
    const Node node = parse_yaml(yaml, "t.yaml");
    Diagnostics diagnostics;
    Fields fields(node, defaults, what, Profile::keras2, diagnostics);
    declare(fields, out);
    fields.finish();
    diagnostics.raise();
  });
}

}  // namespace trainyard::config
