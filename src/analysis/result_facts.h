// What determines the result of a run besides its config.
#pragma once

#include <string>
#include <vector>

#include "formats/json.h"

namespace trainyard {

struct ResultFact {
  std::string key;    // "run.global_batch"
  std::string value;  // "64", or "64, 128" if a resume changed it
};

/// The initial weights (their hash, "" for random ones), ranks, global batch, fingerprints of the
/// data, kernels and program version of a run.json; those that it records.
[[nodiscard]] std::vector<ResultFact> result_facts(const Json& run);

/// The keys of all facts, in their order.
[[nodiscard]] const std::vector<std::string>& result_fact_keys();

}  // namespace trainyard
