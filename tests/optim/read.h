// Optimizers and schedules from YAML, for the tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/fields.h"
#include "config/load.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"

namespace trainyard::test {

template <class Base>
std::unique_ptr<Base> read_member(const std::string& yaml,
                                  std::span<const config::Kind<Base>> family,
                                  config::Profile profile) {
  const config::Node root = config::parse_yaml("it:\n  " + yaml + "\n", "t.yaml");
  config::Diagnostics diagnostics;
  config::Fields fields(root, nullptr, "", profile, diagnostics);
  std::unique_ptr<Base> result;
  fields.one_of("it", result, "what is tested", family);
  fields.finish();
  diagnostics.raise();
  return result;
}

inline std::unique_ptr<Optimizer> optimizer(const std::string& yaml,
                                            config::Profile profile = config::Profile::keras2) {
  return read_member(yaml, optimizer_kinds(), profile);
}

/// The cases of tests/optim/optimizers.yaml.
inline config::Node golden_cases() {
  return *config::load_yaml(std::string(TY_SOURCE_DIR) + "/tests/optim/optimizers.yaml")
              .find("cases");
}

/// The optimizer that a case's entry names, read as that of a run file.
inline std::unique_ptr<Optimizer> optimizer_of(const config::Node& golden) {
  config::Diagnostics diagnostics;
  config::Fields fields(golden, nullptr, "", *config::profile_named(golden.find("profile")->text),
                        diagnostics);
  std::unique_ptr<Optimizer> rule;
  fields.one_of("optimizer", rule, "what is tested", optimizer_kinds());
  diagnostics.raise();
  return rule;
}

/// The optimizers of all cases: every rule, with every option that changes its arithmetic.
inline std::vector<std::unique_ptr<Optimizer>> every_optimizer() {
  std::vector<std::unique_ptr<Optimizer>> all;
  const config::Node cases = golden_cases();
  for (const config::Node& golden : cases.items) all.push_back(optimizer_of(golden));
  return all;
}

inline std::unique_ptr<Schedule> schedule(const std::string& yaml) {
  return read_member(yaml, schedule_kinds(), config::Profile::keras2);
}

/// The message of the error from reading, "" if none.
template <class F>
std::string message_of(const F& read) {
  try {
    (void)read();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace trainyard::test
