// Settings that tests of the runtime make in their own process.
#pragma once

#include <chrono>
#include <string_view>

namespace standin {

/// Replaces STANDIN_FAULTS; counting starts again.
void request_failures(std::string_view text);

/// How long no host enqueues anything before all work is done, requested or not. A millisecond by
/// default.
void set_idle(std::chrono::milliseconds idle);

}  // namespace standin
