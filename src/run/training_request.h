// What is asked of a training run.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "run/config/run_config.h"
#include "run/data_changes.h"
#include "run/initial_weights.h"
#include "run/session/session_device.h"

namespace trainyard {

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
};

}  // namespace trainyard
