// What is asked of a training run.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "report/epoch_line.h"
#include "report/metrics.h"
#include "run/config/run_config.h"
#include "run/data_facts.h"
#include "run/initial_weights.h"
#include "run/session/session_device.h"

namespace trainyard {

/// What to train, how, and what of the process around it a run needs.
struct TrainingRequest {
  RunConfig config;
  std::string original_yaml;                // of a new run: the file as the user wrote it
  std::string command;                      // as typed, shell-quoted
  std::vector<std::string> overrides = {};  // of the config by --set and flags: "epochs=2"
  std::string version;                      // of the program
  std::string id;                           // random id of a new run
  DeviceChoice device;
  std::filesystem::path out;           // --out of a new run, or empty: runs/NAME/NNNN
  std::filesystem::path resume;        // a run folder to resume, or empty
  std::optional<InitialWeights> init;  // weights of a new run
  std::filesystem::path output;        // --plot, or empty
  std::filesystem::path gnuplot;       // program, or empty: no plots
  DataCheck check;                     // of a resume: its data against the run's
  double max_seconds = 0;              // --max-time; 0: none
  bool eager = false;
  // Of the process that trains.
  /// Makes the console's sink once the contents of the banner are known.
  std::function<std::unique_ptr<MetricsSink>(const Banner&, std::int64_t epochs)> console =
      [](const Banner&, std::int64_t) { return std::make_unique<NullSink>(); };
  std::function<void(const std::string&)> warn = [](const std::string&) {};
  /// Redirects the output of this process to that file from now on, if its folder is visible.
  std::function<void(const std::filesystem::path&)> log_to = [](const std::filesystem::path&) {};
  /// All variables of the environment, as NAME=VALUE, for the run's hooks.
  std::vector<std::string> environment = {};
};

}  // namespace trainyard
