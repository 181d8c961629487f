// An environment made of a map, for the tests.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "ranks/spawn/launcher_environment.h"

namespace trainyard::testing {

using VariableMap = std::map<std::string, std::string>;

inline Variables variables_in(VariableMap map) {
  return [map = std::move(map)](const char* name) -> const char* {
    const auto found = map.find(name);
    return found == map.end() ? nullptr : found->second.c_str();
  };
}

/// `map` with changes; a value of "" removes the variable.
inline VariableMap with(VariableMap map, const VariableMap& changes) {
  for (const auto& [name, value] : changes) {
    map[name] = value;
    if (value.empty()) map.erase(name);
  }
  return map;
}

}  // namespace trainyard::testing
