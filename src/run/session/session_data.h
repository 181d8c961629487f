// The data of a run: opened, placed where its device reads them, and fed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "data/feed/device_images.h"
#include "data/feed/feeder.h"
#include "model/training_graph.h"
#include "ranks/rank_group.h"
#include "run/config/run_config.h"
#include "run/session/session_device.h"

namespace trainyard {

/// Data sets with their pipeline and feeders.
struct SessionData {
  DatasetPtr train;
  DatasetPtr val;
  Statistics statistics;
  std::unique_ptr<Pipeline> pipeline;  // augments in training, preprocesses always
  BatchImages images = BatchImages::made;
  // If the device makes the batches; else null. For batches that bring bytes there is a single one,
  // for the training and the validation split.
  std::unique_ptr<DeviceImages> train_images;
  std::unique_ptr<DeviceImages> val_images;
  std::unique_ptr<Feeder> train_feeder;
  std::unique_ptr<Feeder> val_feeder;
  std::unique_ptr<Feeder> clean_feeder;  // feeder for the run's train_eval; null: none

  /// For evaluation.
  [[nodiscard]] const DeviceImages* images_of_val() const {
    return val_images ? val_images.get() : train_images.get();
  }
};

/// Opens both splits, and makes the pipeline from the run's preprocessing and augmentations.
/// `known` are the statistics of the training split from a checkpoint, or null to compute them with
/// `threads`; `opened` is called between. Throws Error{data}, Error{checkpoint} for statistics of
/// other images.
[[nodiscard]] SessionData open_data(
    const RunConfig& run, const Statistics* known, int threads, RankGroup& ranks,
    const Opening& opening,
    const std::function<void(const SessionData&)>& opened = [](const SessionData&) {});

/// The pipeline of a run for samples of `image` ([c, h, w]), whose training split has these known
/// statistics. Throws Error{checkpoint} for statistics of other images.
[[nodiscard]] std::unique_ptr<Pipeline> make_pipeline(const RunConfig& run, const Shape& image,
                                                      const Statistics& known);

/// Throws Error{config} unless the run's network takes the samples of `set` as `pipeline` makes
/// them, and its outputs that are compared with labels have as many classes as they. Lengths go
/// with no augmentation.
void require_fit(const RunConfig& run, const Graph& network, const Dataset& set,
                 const Pipeline& pipeline);

/// Decides whether host or device makes the batches, of `batch` samples, and copies to the device
/// what it needs for that. Throws Error{config} if `data.resident: always` is not possible,
/// Error{memory}.
void place_data(const DataConfig& config, const SessionDevice& device, std::int64_t batch,
                SessionData& data);

/// Makes the feeders of both splits, whose batches of `batch` samples have the graph's fields, for
/// this rank. Throws Error{config} if the training split is smaller than one batch of all ranks.
void make_feeders(const RunConfig& run, std::int64_t batch, const TrainingGraph& graph,
                  const RankGroup& ranks, SessionData& data);

/// "resident", "uploaded as bytes", "uploaded as floats", "uploaded as tokens"; "" if the CPU makes
/// its own batches.
[[nodiscard]] std::string feeding_text(const SessionData& data, const SessionDevice& device);

}  // namespace trainyard
