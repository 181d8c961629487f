// A stored model on a device, with samples to run it on.
//
// The folder inference evaluates and predicts with the weights of a run. It trains nothing, and
// writes only the files of an evaluation.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/faults.h"
#include "data/feed/batch_fields.h"
#include "data/feed/feeder.h"
#include "model/model.h"
#include "ops/metric.h"
#include "ranks/comm/communicator.h"
#include "ranks/rank_group.h"
#include "run/session/session_device.h"
#include "run/stored_model.h"

namespace trainyard {

/// Samples, as the network of a run gets them.
struct InferenceData {
  DatasetPtr set;
  std::unique_ptr<Pipeline> pipeline;             // prepared
  std::optional<ClassWeightPolicy> weights = {};  // weights of the samples
  /// How the split differs from what the run recorded, which --changed-data allowed; on rank 0.
  std::vector<std::string> changes = {};
  /// Samples that cannot be read, by index: their outputs mean nothing. Null: the first one is an
  /// error.
  std::shared_ptr<Faults> faults = nullptr;
};

struct InferenceOptions {
  std::int64_t batch = 0;     // batch size; 0: the run's on one rank
  bool keep_outputs = false;  // Model::output_rows()
  bool unlabelled = false;    // the samples have labels without a meaning, and no other targets
  std::vector<std::shared_ptr<const Metric>> metrics =
      {};  // metrics of the network's output, beside the run's
  /// The layer whose output is the graph's in place of the last one's; "": the last one. See
  /// output_of_layer().
  std::string layer = "";
};

/// Samples of a pass, the same on any number of ranks: so the results are the same too.
[[nodiscard]] std::int64_t batch_of(const StoredModel& stored, const InferenceOptions& options);

/// One rank's part. Batch b of the samples belongs to rank b mod ranks.
class InferenceSession {
 public:
  /// `ranks` and `data` outlive it. Batches have those fields of the network's objectives that the
  /// samples have. Throws Error{config} if network and samples do not fit,
  /// Error{checkpoint} as fill_model(), Error{memory}, Error{device}.
  InferenceSession(const StoredModel& stored, SessionDevice& device, RankGroup& ranks,
                   const InferenceData& data, const InferenceOptions& options);

  [[nodiscard]] Model& model() { return *model_; }
  [[nodiscard]] Feeder& feeder() { return *feeder_; }

 private:
  std::unique_ptr<Model> model_;
  std::unique_ptr<Feeder> feeder_;
  GiveUpOnError give_up_;  // gives up for the device's ranks; last
};

/// The value that layer `layer` of `network`, the run's as it is trained, gives. Throws
/// Error{command_line}, with the nearest name, for a layer that is not there, and for a closing
/// activation, which the loss computes.
[[nodiscard]] ValueId output_of_layer(const RunConfig& run, const Graph& network,
                                      const std::string& layer);

/// The device of an inference with `stored`, with the engines that its run chose.
[[nodiscard]] SessionDevice inference_device(const StoredModel& stored, DeviceChoice choice,
                                             RankGroup& ranks);

}  // namespace trainyard
