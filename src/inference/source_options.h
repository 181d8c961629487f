// How the source of a run makes its samples, as its config says.
#pragma once

#include <memory>
#include <string>

#include "config/fields.h"
#include "data/sets/image_set.h"
#include "run/config/run_config.h"
#include "run/stored_model.h"
#include "run/training_files.h"

namespace trainyard {

/// The keys of the source of a run's training split, whose options have this type.
template <class Options>
[[nodiscard]] Options source_options(const RunConfig& run) {
  Options options;
  config::Diagnostics diagnostics;
  const config::Node& written = *run.settled.find("data")->find("train");
  config::Fields fields(written, nullptr, "source", run.profile, diagnostics);
  declare(fields, options);
  diagnostics.raise();
  options.limit = 0;  // the limit is the split's alone
  return options;
}

/// The name of that source: "cifar10".
[[nodiscard]] std::string source_name(const RunConfig& run);

/// How images become samples like the run's: as its source makes them if that reads image
/// files, else stretched to the size of its samples, if they have one. Throws Error{config} if the
/// run's samples are no images.
[[nodiscard]] ImageOptions image_options(const RunConfig& run, const SamplesRecord& samples);

/// The preprocessing of the run for the samples of `set`. Throws Error{data} if they are not like
/// the run's, as make_pipeline().
[[nodiscard]] std::unique_ptr<Pipeline> pipeline_for(const StoredModel& stored,
                                                     const SamplesRecord& samples,
                                                     const Dataset& set);

}  // namespace trainyard
