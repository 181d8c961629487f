#include "run/config/output_config.h"

#include <array>

namespace trainyard {

using config::Fields;

void declare(Fields& fields, PlotConfig& plot) {
  fields.field("title", plot.title, "title of the plots");
  fields.field("style", plot.style,
               "'panels': loss above metrics, named like the columns of metrics.csv; 'guide': one "
               "panel, named as in the Keras multi-GPU guide");
}

void declare(Fields& fields, OutputConfig& output) {
  fields.feature("plot", output.plot, "the plots of the run");
  fields.field("steps", output.steps, "write steps.csv, one row per step");
  fields.field("classes", output.classes,
               "after each epoch write eval/classes.csv, with the precision, recall, F1 and AUC of "
               "each class, eval/confusion.csv and eval/mistakes.csv, all on the validation split");
  fields.field("tensorboard", output.tensorboard,
               "write tensorboard/, event files with the curves of metrics.csv and, with 'steps', "
               "those of steps.csv");
  fields.feature("generate", output.generate,
                 "after each epoch write texts of a model of tokens into samples/epoch-N.txt");
}

}  // namespace trainyard
