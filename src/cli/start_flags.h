// The flags that start a new run, shared by `train` and `train check`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/run_flags.h"
#include "cli/verbs.h"
#include "run/training_request.h"

namespace trainyard::cli {

struct StartFlags {
  RunFlags run;
  std::string out, output, name;
  std::string init;                    // --init
  std::vector<std::string> init_skip;  // --init-skip
  std::optional<std::int64_t> seed, epochs;
};

/// Declares the flags of add_run_flags(), --out, --name, --seed, --epochs, --init and
/// --init-skip.
void add_start_flags(CLI::App& app, StartFlags& flags);
/// Declares --plot, also as --output (the name in the Keras multi-GPU guide).
void add_picture_flag(CLI::App& app, StartFlags& flags);
/// The flags of the run with the short forms of --set added to its overrides.
[[nodiscard]] RunFlags with_overrides(const StartFlags& flags);
/// The weights of --init, if given. Throws as read_initial_weights().
[[nodiscard]] std::optional<InitialWeights> initial_weights(const StartFlags& flags);
/// The request without the config, the weights and the device.
[[nodiscard]] TrainingRequest request_of(const StartFlags& flags, const Context& context);

}  // namespace trainyard::cli
