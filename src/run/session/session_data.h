// The data of a run: opened, placed where its device reads them, and fed.
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
  // If the device makes the batches; else null. For batches that bring bytes there is a single one,
  // for the training and the validation split.
  std::unique_ptr<DeviceImages> train_images;
  std::unique_ptr<DeviceImages> val_images;
  std::unique_ptr<Feeder> train_feeder;
  std::unique_ptr<Feeder> val_feeder;

  /// For evaluation.
  [[nodiscard]] const DeviceImages* images_of_val() const {
    return val_images ? val_images.get() : train_images.get();
  }
};

/// Opens both splits, and makes the pipeline from the preprocessing and augmentations, which it
/// moves out of `run`. `known` are the statistics of the training split from a checkpoint, or null
/// to compute them with `threads`. Throws Error{data}, Error{checkpoint} for statistics of other
/// images.
[[nodiscard]] SessionData open_data(RunConfig& run, const Statistics* known, int threads,
                                    RankGroup& ranks,
                                    const std::function<void(const std::string&)>& warn);

/// Decides whether host or device makes the batches, of `batch` samples, and copies to the device
/// what it needs for that. Throws Error{config} if `data.resident: always` is not possible,
/// Error{memory}.
void place_data(const DataConfig& config, const SessionDevice& device, std::int64_t batch,
                SessionData& data);

/// Advice for data with fewer classes than expected, to follow a message; "" otherwise.
[[nodiscard]] std::string classes_advice(std::int64_t wanted, std::int64_t found);

/// "resident", "uploaded as bytes", "uploaded as floats"; "" if the CPU makes its own batches.
[[nodiscard]] std::string feeding_text(const SessionData& data, const SessionDevice& device);

}  // namespace trainyard
