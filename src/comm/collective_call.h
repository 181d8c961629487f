// What a call of a communicator does, for messages and for telling calls from each other.
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

/// The call that sums `count` elements over ranks. Bytes are not summed: u8 is an internal error.
[[nodiscard]] CollectiveCall sum_call(std::int64_t count, DType type);

/// "all_reduce_sum of 1000 f32 elements".
[[nodiscard]] std::string text_of(const CollectiveCall& call);

/// What is wrong with another rank, by its name: it does not come any more, or did not in time.
[[nodiscard]] std::string gone_text(const std::string& name, const std::string& reason);
[[nodiscard]] std::string late_text(const std::string& name, Milliseconds limit,
                                    const std::string& reason);

/// Error{device} of a call that `name` made over so many ranks.
[[nodiscard]] Error failed_call(const CollectiveCall& call, const std::string& name, int ranks,
                                const std::string& reason);

}  // namespace trainyard
