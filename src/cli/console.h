// Console output of a run: epoch lines on stdout, bar or minute lines on stderr.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/clock.h"
#include "cli/output.h"
#include "report/epoch_line.h"
#include "report/metrics.h"

namespace trainyard::cli {

struct ConsoleOptions {
  LogStyle style = LogStyle::keras;
  bool quiet = false;     // -q: only errors and warnings
  bool terminal = false;  // stderr is a terminal: a repainted bar
  bool utf8 = true;
  /// Columns of the terminal on stderr, queried for each line; 0: not a terminal.
  std::function<int()> bar_columns = [] { return 0; };
};

/// Columns of the terminal behind `descriptor`, 0 if it is not a terminal: COLUMNS if that is a
/// number above 0, else what the terminal reports, else 80. `stated`: the value of COLUMNS, or
/// null.
[[nodiscard]] int terminal_columns(int descriptor, const char* stated);

/// Columns of stdout, or COLUMNS of the environment.
[[nodiscard]] int output_columns();

/// Prints the banner and returns the sink that prints the rest. `clock` and `messages` must outlive
/// it.
[[nodiscard]] std::unique_ptr<MetricsSink> make_console(const ConsoleOptions& options,
                                                        const Clock& clock, Messages& messages,
                                                        const Banner& banner, std::int64_t epochs);

}  // namespace trainyard::cli
