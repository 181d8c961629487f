// The command line: verbs, flags, error messages and exit codes.
#pragma once

namespace trainyard::cli {

/// Runs the program and returns its exit code. Never throws.
[[nodiscard]] int run_program(int argc, char** argv);

}  // namespace trainyard::cli
