// What the programs here have in common: usage, clock and exit code.
#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "rows.h"

namespace trainyard::probe {

/// The exit code for CTest's SKIP_RETURN_CODE. (scripts/skips.sh reads the last line.)
inline constexpr int kSkipped = 77;

inline int skip(const std::string& why) {
  std::printf("skipped, %s\n1 cases, 0 failed, 1 skipped\n", why.c_str());
  return kSkipped;
}

/// Makes the rows. The exit code is 1 if one of them failed.
inline int finish(const std::vector<Measurement>& all, const Request& request) {
  const auto now = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  const Outcome outcome = make_rows(all, request, now);
  const int cases = outcome.measured + outcome.failed + outcome.left_out;
  std::printf("%d cases, %d failed, %d skipped\n", cases, outcome.failed, outcome.left_out);
  return outcome.failed == 0 ? 0 : 1;
}

inline int run_program(const std::vector<std::string>& arguments,
                       const std::function<int(std::vector<std::string>)>& run, const char* usage) {
  try {
    return run(arguments);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    if (error.kind() == ErrorKind::command_line) std::fputs(usage, stderr);
    return error.exit_code();
  }
}

}  // namespace trainyard::probe
