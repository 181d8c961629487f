// What a run prints: epoch lines on stdout, bar or minute lines on stderr.
#pragma once

#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "run/epoch_line.h"
#include "run/metrics.h"

namespace trainyard::cli {

struct ConsoleOptions {
  LogStyle style = LogStyle::keras;
  bool quiet = false;     // -q: errors alone
  bool terminal = false;  // stderr is one: a repainted bar
  bool utf8 = true;
};

/// Prints the banner and makes the sink that prints the rest. `clock` must outlive it.
[[nodiscard]] std::unique_ptr<MetricsSink> make_console(const ConsoleOptions& options,
                                                        const Clock& clock, const Banner& banner,
                                                        std::int64_t epochs);

}  // namespace trainyard::cli
