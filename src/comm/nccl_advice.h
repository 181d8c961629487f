// What a person can do about NCCL's failures that a setting avoids.
#pragma once

#include <string>
#include <string_view>

namespace trainyard::nccl {

/// "; " and what to do about a failure that NCCL describes so: the option of a container that gives
/// it memory, or the variable that switches off what does not work on this machine. "" where
/// nothing is known.
[[nodiscard]] std::string advice_on(std::string_view message);

}  // namespace trainyard::nccl
