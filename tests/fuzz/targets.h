// Readers of untrusted files, in the form for fuzzing: bytes in, nothing out.
#pragma once

#include <span>
#include <string_view>

namespace trainyard::fuzz {

/// One reader. `read` returns if it accepts the bytes and throws trainyard::Error if it refuses
/// them; any other outcome is a bug.
struct Target {
  std::string_view name;  // also of its folder below corpus/
  void (*read)(std::string_view input);
};

/// All targets; the list is in targets.cpp.
[[nodiscard]] std::span<const Target> targets();
/// Null if there is none of that name.
[[nodiscard]] const Target* find_target(std::string_view name);

enum class Outcome { accepted, refused };
/// Runs a target. Rethrows its exceptions except refusals; an Error of kind bug is not a refusal.
[[nodiscard]] Outcome outcome_of(const Target& target, std::string_view input);

}  // namespace trainyard::fuzz
