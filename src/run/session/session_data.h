// The data of a run: opened, put where its device reads them, and fed.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "data/device_images.h"
#include "data/feeder.h"
#include "run/config/run_config.h"
#include "train/rank_group.h"

namespace trainyard {

struct SessionDevice;

/// Data sets with their pipeline and feeders.
struct SessionData {
  std::unique_ptr<Dataset> train;
  std::unique_ptr<Dataset> val;
  Statistics statistics;
  std::unique_ptr<Pipeline> pipeline;  // augments in training, preprocesses always
  BatchImages images = BatchImages::made;
  // Where the device makes the batches; else null. Of batches that bring bytes there is one, of the
  // training and the validation split.
  std::unique_ptr<DeviceImages> train_images;
  std::unique_ptr<DeviceImages> val_images;
  std::unique_ptr<Feeder> train_feeder;
  std::unique_ptr<Feeder> val_feeder;

  /// Of evaluation.
  [[nodiscard]] const DeviceImages* images_of_val() const {
    return val_images ? val_images.get() : train_images.get();
  }
};

/// Opens both splits, and makes the pipeline of what `run` says is done to them, which it takes
/// out. `known` are the statistics of the training split from a checkpoint, or null to compute them
/// with `threads`. Throws Error{data}, Error{checkpoint} for statistics of other images.
[[nodiscard]] SessionData open_data(RunConfig& run, const Statistics* known, int threads,
                                    RankGroup& ranks,
                                    const std::function<void(const std::string&)>& warn);

/// Decides who makes the batches, of `batch` samples, and puts on the device what it needs for it.
/// Throws Error{config} where `data.resident: always` cannot be, Error{memory}.
void place_data(const DataConfig& config, const SessionDevice& device, std::int64_t batch,
                SessionData& data);

/// What to do about data that show fewer classes than there are, to follow a message; "" if they do
/// not.
[[nodiscard]] std::string classes_advice(std::int64_t wanted, std::int64_t found);

/// "resident", "uploaded as bytes", "uploaded as floats"; "" where a processor makes its batches.
[[nodiscard]] std::string feeding_text(const SessionData& data, const SessionDevice& device);

}  // namespace trainyard
