// The data that `train eval` evaluates.
#pragma once

#include <string>

#include "inference/inference_session.h"
#include "run/data_facts.h"

namespace trainyard {

/// Opens `data`: "val" or "train", a split of the model's run, or a folder with one folder of
/// images for each class, whose names are those of the run's classes; classes may be missing.
/// Throws Error{command_line} for anything else, Error{data}, also for a folder that is not a class
/// of the run, and Error{checkpoint} if the run's statistics or vocabulary are of other samples. On
/// rank 0 the run's own split is compared with what the run recorded of it, as `check` says: see
/// judge_changes(). It is not its own if --set changed where the splits are read.
[[nodiscard]] InferenceData open_evaluated(const StoredModel& stored, const std::string& data,
                                           RankGroup& ranks, const Opening& opening,
                                           const DataCheck& check = {});

/// "the validation split of the run (source cifar10)", "the images of FOLDER".
[[nodiscard]] std::string evaluated_text(const StoredModel& stored, const std::string& data);

}  // namespace trainyard
