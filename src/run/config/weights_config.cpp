#include "run/config/weights_config.h"

namespace trainyard {

void declare_weights(config::Fields& fields, WeightsConfig& weights) {
  fields.field(
      "class_weights", weights.classes,
      "weights of the classes in the loss, by name or number: {cat: 2, 3: 0.5}; the others "
      "have 1; 'balanced': each class has an equal part");
  fields.field("ignore_label", weights.ignore_label,
               "samples with this label are in no loss, metric or gradient");
  fields.field("sample_weights", weights.samples,
               "field of the data with a weight for each sample, float32");
  fields.field("weigh_validation", weights.validation,
               "weigh the validation loss too; else its samples count alike");
}

}  // namespace trainyard
