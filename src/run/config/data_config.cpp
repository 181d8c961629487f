#include "run/config/data_config.h"

#include <algorithm>
#include <utility>

#include "config/schema.h"
#include "data/sets/dataset.h"
#include "data/sets/subset.h"

namespace trainyard {

namespace {

constexpr const char* kDefaultRoot = "data";

/// True if the source's own declarations give `root` a value.
bool has_default_root(const std::string& source) {
  const auto kinds = dataset_kinds();
  const auto kind = std::ranges::find(kinds, source, &config::Kind<DatasetSource>::name);
  if (kind == kinds.end()) return false;
  config::Fields fields(config::Profile::keras2);
  static_cast<void>(kind->read(fields));
  return std::ranges::any_of(fields.descriptions(), [](const config::FieldDescription& field) {
    return field.key == "root" && !field.required && field.default_text == kDefaultRoot;
  });
}

}  // namespace

using config::Fields;

void declare(Fields& fields, SamplerConfig& sampler) {
  if (!fields.keys_only("{balanced: 1}")) return;
  fields.field("balanced", sampler.balanced,
               "1: samples of every class are equally frequent; 0: as they are; between: in "
               "proportion to count^(1 - balanced)",
               {.minimum = 0, .maximum = 1});
}

void declare(Fields& fields, SplitConfig& split) {
  fields.select("source", split.source, "where the samples come from", dataset_kinds());
  if (!fields.describing()) split.where = fields.where("source");
  fields.field("shuffle", split.shuffle, "a new order every epoch (training only)");
  fields.feature(
      "sampler", split.sampler,
      "how often an epoch takes samples (training only): {balanced: 1} draws all classes "
      "equally often; left out: each sample once");
  if (fields.describing() || !split.sampler || split.shuffle) return;
  fields.error("sampler",
               "'sampler' draws a new order every epoch, but 'shuffle' is false; leave out one of "
               "the two");
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
  if (val && val->sampler) {
    fields.error("val",
                 "'val' has a 'sampler', but validation takes every sample once; 'sampler' is for "
                 "'train'");
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

void put_default_root(config::Node& run, const std::string& folder) {
  config::Node* data = run.find("data");
  if (folder.empty() || data == nullptr) return;
  for (const char* split : {"train", "val"}) {
    config::Node* map = data->find(split);
    if (map == nullptr) continue;
    const config::Node* given = map->find("root");
    if (given != nullptr && given->kind != config::Node::Kind::null) continue;
    std::erase_if(map->entries, [](const config::Entry& entry) { return entry.key == "root"; });
    const config::Node* source = map->find("source");
    if (source == nullptr || !has_default_root(source->text)) continue;
    // Its position is in no file, so that it is relative to the current folder.
    config::Node root = config::scalar_node(folder, true, {"$TRAINYARD_DATA", 1, 1});
    root.typed_path = kDefaultRoot;
    map->entries.push_back({.key = "root", .where = map->where, .value = std::move(root)});
  }
}

}  // namespace trainyard
