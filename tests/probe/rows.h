// The rows that a probe writes: what was measured, beside what was predicted and what it decides.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "formats/json.h"

namespace trainyard::probe {

/// The middle, the least and the most of repeated measurements.
struct Spread {
  double median = 0, least = 0, most = 0;
};
[[nodiscard]] Spread spread_of(const std::vector<double>& values);
/// Each of them less `base`, and then divided by `parts`.
[[nodiscard]] Spread share_above(const Spread& spread, double base, double parts);

/// The result of a measurement.
struct Reading {
  std::optional<Spread> spread = {};  // empty: it counts or compares, and `more` says what
  const char* unit = "us";
  Json more = Json::object();  // further keys of the row
};

struct Measurement {
  std::string name;       // "M1.empty": a part, and what is measured there
  std::string what;       // one line
  std::string predicted;  // with its unit, from the design
  std::string decides;
  /// Throws std::exception if it cannot be made: its row then has the error's text.
  std::function<Reading()> measure;
};

struct Request {
  std::vector<std::string> only;  // names or parts; empty: all
  double seconds = 0;             // no measurement begins later than that; 0: no limit
  std::string output;             // a file for the JSON lines; empty: none
};
/// Reads --only LIST, --seconds N and --output FILE, which it takes out of `arguments`. Throws
/// Error{command_line} for a value that is missing or wrong.
[[nodiscard]] Request take_request(std::vector<std::string>& arguments);

/// How many measurements ended in each way.
struct Outcome {
  int measured = 0, failed = 0, left_out = 0;
};
/// Makes the requested measurements in order. For each, a readable line on standard output and a
/// JSON line in the file, which is complete after each: a probe that is stopped loses nothing.
/// `now` is a clock in seconds. Throws Error{command_line} for a name that there is not, and
/// Error{disk}.
Outcome make_rows(const std::vector<Measurement>& all, const Request& request,
                  const std::function<double()>& now);

}  // namespace trainyard::probe
