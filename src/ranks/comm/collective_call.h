// A communicator's call, for messages and for telling calls apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "tensor/dtype.h"

namespace trainyard {

struct CollectiveCall {
  std::string_view operation;  // static
  std::int64_t count = 0;
  std::string_view unit;  // static: "f32 elements"
  int root = 0;
};

/// The all-reduce of `count` elements. Bytes are not all-reduced: u8 is an internal error.
[[nodiscard]] CollectiveCall sum_call(std::int64_t count, DType type);

/// "1000 f32 elements".
[[nodiscard]] std::string amount_of(const CollectiveCall& call);
/// "all_reduce_sum of 1000 f32 elements".
[[nodiscard]] std::string text_of(const CollectiveCall& call);

/// What is wrong with the rank `name`: it no longer takes part, or did not do so in time.
[[nodiscard]] std::string gone_text(const std::string& name, const std::string& reason);
[[nodiscard]] std::string late_text(const std::string& name, Milliseconds limit,
                                    const std::string& reason);

/// Error{device} of a call, by its text, that `name` made over `ranks` ranks.
[[nodiscard]] Error failed_call(const std::string& call, const std::string& name, int ranks,
                                const std::string& reason);

}  // namespace trainyard
