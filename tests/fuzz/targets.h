// Readers of files that strangers hand over, in the form that fuzzing wants: bytes in, nothing out.
#pragma once

#include <span>
#include <string_view>

namespace trainyard::fuzz {

/// One reader. `read` returns if it accepts the bytes and throws trainyard::Error if it refuses
/// them; anything else that it does is a bug.
struct Target {
  std::string_view name;  // of its folder below corpus/
  void (*read)(std::string_view input);
};

/// All of them; the list stands in targets.cpp.
[[nodiscard]] std::span<const Target> targets();
/// Null if there is none of that name.
[[nodiscard]] const Target* find_target(std::string_view name);

enum class Outcome { accepted, refused };
/// Runs a target. Throws what it throws, unless that is a refusal; an Error of kind bug is none.
[[nodiscard]] Outcome outcome_of(const Target& target, std::string_view input);

}  // namespace trainyard::fuzz
