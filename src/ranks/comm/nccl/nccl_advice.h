// Advice on NCCL failures that a setting avoids.
#pragma once

#include <string>
#include <string_view>

namespace trainyard::nccl {

/// "; " and advice on a failure with this message of NCCL: the container option that gives it
/// memory, or the variable that turns off what does not work on this machine. "" if there is none.
[[nodiscard]] std::string advice_on(std::string_view message);

}  // namespace trainyard::nccl
