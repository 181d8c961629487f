// What is wrong with the graph of a run.
#pragma once

#include <string>

#include "run/session/session_model.h"
#include "run_text.h"

namespace trainyard::test {

/// The message with which the training graph of the run of `yaml` is refused (refusal()).
inline std::string graph_refusal(const std::string& yaml) {
  return refusal([&] { static_cast<void>(make_training_graph(read_run(yaml), 2)); });
}

}  // namespace trainyard::test
