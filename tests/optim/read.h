// Optimizers and schedules from YAML, for the tests.
#pragma once

#include <memory>
#include <string>

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
