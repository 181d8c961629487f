// A sheet of samples as a data set has them beside what the network gets of them.
#pragma once

#include <cstdint>
#include <string>

#include "data/images/image.h"
#include "report/sinks.h"
#include "run/config/run_config.h"
#include "run/session/session.h"
#include "run/session/session_data.h"

namespace trainyard {

struct BrowseOptions {
  bool val = false;              // true for the validation split
  std::int64_t samples = 8;      // rows: the first samples of the epoch
  std::int64_t draws = 4;        // draws of each training sample: those of as many epochs
  std::uint32_t epoch = 0;       // the first of them, counted from 0
  std::int64_t most_side = 256;  // side of an image in the sheet, pixels
};

struct BrowsedSamples {
  Image sheet;
  std::string facts;  // a line on the values that the network gets
};

/// Each row has a sample as its source gives it, then what the network gets of it in consecutive
/// epochs, before `preprocess`, whose output is not in colours: that is the only difference to the
/// network's input, whose range the facts give. Below a mixture is the other label, with its share.
/// Values of 8-bit sources are shown as they are, rounded and cut to 0..255; those of others are
/// mapped from the range of the originals shown. A function of the run file, its seed and the
/// options. Throws what opening the data throws, and Error{config} for samples without images.
[[nodiscard]] BrowsedSamples browse(const RunConfig& run, const BrowseOptions& options, int threads,
                                    const Opening& opening);
/// The same of data that are open; they have images.
[[nodiscard]] BrowsedSamples browse(const RunConfig& run, const BrowseOptions& options,
                                    const SessionData& data);

/// What TensorBoard shows of a run beside its curves: its config, `yaml`, and, of images, the
/// sheets of browse.h: the first samples of the epoch after `epoch`, and those of validation.
[[nodiscard]] TensorboardHead tensorboard_head(Session& session, std::string yaml,
                                               std::int64_t epoch);

}  // namespace trainyard
