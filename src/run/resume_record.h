// What a resume records in run.json besides its config.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "run/data_facts.h"
#include "run/run_folder.h"

namespace trainyard {

/// What determines a result besides config, data and initial weights.
struct ResumeCircumstances {
  std::int64_t ranks = 1;
  std::int64_t global_batch = 1;
  std::string version;  // of the program
};

struct ResumedOn {
  DataFacts data;
  std::vector<std::string> changes;  // from the run's data, in words; empty: none
  std::string command;               // as typed
  std::int64_t epoch = 1;            // the first one trained so, perhaps in part
  std::int64_t step = 1;
};

/// Adds an entry to "resumes" of run.json if the circumstances differ from those that the run had
/// last, and one to "data_changes", with the new fingerprints, if the data do. A run.json that
/// cannot be read is left as it is. Throws Error{disk}.
void record_resume(const RunFolder& folder, const ResumeCircumstances& now, const ResumedOn& on);

/// Whether every start of the run in `folder` had this global batch, as far as run.json tells.
[[nodiscard]] bool trained_with(const std::filesystem::path& folder, std::int64_t global_batch);

}  // namespace trainyard
