// What a run prints: epoch lines on stdout, bar or minute lines on stderr.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "cli/messages.h"
#include "report/epoch_line.h"
#include "report/metrics.h"

namespace trainyard::cli {

struct ConsoleOptions {
  LogStyle style = LogStyle::keras;
  bool quiet = false;     // -q: errors and warnings alone
  bool terminal = false;  // stderr is one: a repainted bar
  bool utf8 = true;
  /// Columns of the terminal that stdout or stderr is, asked anew for each line; 0: it is none.
  std::function<int()> output_columns = [] { return 0; };
  std::function<int()> bar_columns = [] { return 0; };
};

/// Columns of the terminal behind `descriptor`, 0 if it is none: what COLUMNS says if that is a
/// number above 0, else what the terminal says, else 80. `stated`: the value of COLUMNS, or null.
[[nodiscard]] int terminal_columns(int descriptor, const char* stated);

/// Prints the banner and makes the sink that prints the rest. `clock` and `messages` must outlive
/// it.
[[nodiscard]] std::unique_ptr<MetricsSink> make_console(const ConsoleOptions& options,
                                                        const Clock& clock, Messages& messages,
                                                        const Banner& banner, std::int64_t epochs);

}  // namespace trainyard::cli
