// What tests of the runtime set in their own process.
#pragma once

#include <chrono>
#include <string_view>

namespace standin {

/// In place of STANDIN_FAULTS; counting begins anew.
void request_failures(std::string_view text);

/// How long no host puts anything before all work is done, asked for or not. A millisecond, unless
/// this says otherwise.
void set_idle(std::chrono::milliseconds idle);

}  // namespace standin
