#include "run/config/data_config.h"

#include <array>
#include <utility>

#include "data/sets/subset.h"

namespace trainyard {

using config::Fields;

void declare(Fields& fields, SplitConfig& split) {
  fields.select("source", split.source, "where the samples come from", dataset_kinds());
  if (!fields.describing()) split.where = fields.where("source");
  fields.field("shuffle", split.shuffle, "a new order every epoch (training only)");
}

namespace {

/// The validation split: the file's own, or a part of the training samples.
void declare_val(Fields& fields, DataConfig& data) {
  std::optional<SplitConfig> val;
  fields.field("val", val, "the validation split, evaluated in full after each epoch");
  fields.field("val_fraction", data.val_fraction,
               "instead of 'val': this share of the training samples, and of every class, chosen "
               "by the seed, is kept for validation",
               {.minimum = 0, .maximum = 0.9, .exclusive_minimum = true});
  if (fields.describing()) return;
  if (fields.given("val") == data.val_fraction.has_value()) {
    fields.error("", "'data' requires either 'val' or 'val_fraction'");
  }
  if (val) data.val = std::move(*val);
  if (!data.val_fraction || data.train.source == nullptr) return;
  const auto whole = data.train.source;
  data.val.source = part_source(whole, *data.val_fraction, Part::val);
  data.train.source = part_source(whole, *data.val_fraction, Part::train);
}

}  // namespace

void declare(Fields& fields, DataConfig& data) {
  fields.required("train", data.train, "the training split");
  declare_val(fields, data);
  fields.feature("preprocess", data.preprocess, "applied to every sample, in order",
                 preprocess_kinds());
  fields.feature("augment", data.augment, "applied to training samples before preprocess, in order",
                 augmentation_kinds());
  if (!fields.describing()) {
    data.preprocess_at = fields.where("preprocess");
    data.augment_at = fields.where("augment");
  }
  fields.field("workers", data.workers, "threads that prepare batches; 0: no separate threads",
               {.minimum = 0, .maximum = 256});
  fields.field("resident", data.resident,
               "keep 8-bit images on the device and assemble batches there; auto: on a GPU if they "
               "take at most a quarter of its free memory, else they are copied with each batch");
  fields.field("prefetch", data.prefetch, "batches prepared ahead", {.minimum = 1, .maximum = 64});
}

}  // namespace trainyard
