// `data` of a run: its splits, preprocessing and augmentation.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/fields.h"
#include "config/node.h"
#include "data/augment/pipeline.h"
#include "data/sets/dataset.h"

namespace trainyard {

/// How the samples of an epoch are drawn, in place of each once.
struct SamplerConfig {
  double balanced = 1;  // strength, see BalancedSampler
};

/// One split: a source with its keys, and in which order it is taken.
struct SplitConfig {
  std::shared_ptr<const DatasetSource> source;
  Position where;  // of the source's name
  bool shuffle = true;
  std::optional<SamplerConfig> sampler = {};  // training only
};

/// Whether data sets stay on the device.
enum class Resident { automatic, always, never };

struct DataConfig {
  SplitConfig train;
  SplitConfig val;  // the file's, or the part of the training samples that `val_fraction` takes
  std::optional<double> val_fraction;
  std::vector<std::shared_ptr<const Preprocess>> preprocess;
  std::vector<std::shared_ptr<const Augmentation>> augment;
  Position preprocess_at, augment_at;  // in the file
  std::int64_t workers = 1;
  Resident resident = Resident::automatic;
  std::int64_t prefetch = 2;
};

[[nodiscard]] constexpr config::Words<Resident> words(Resident) {
  return {"auto", "always", "never"};
}
void declare(config::Fields& fields, DataConfig& data);

/// Writes `root: FOLDER` into `data.train` and `data.val` of a run file's map if they name a source
/// whose `root` has a default and give none. An empty `folder` changes nothing.
void put_default_root(config::Node& run, const std::string& folder);

}  // namespace trainyard
