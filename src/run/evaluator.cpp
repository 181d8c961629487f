#include "run/evaluator.h"

namespace trainyard {

Totals evaluate(Model& model, Feeder& feeder) {
  Totals totals;
  feeder.start(0);
  for (std::int64_t step = 0; step < feeder.steps_per_epoch(); ++step) {
    model.load(feeder.next());
    model.eval().run();
    model.add_totals(model.eval(), totals);
  }
  return totals;
}

}  // namespace trainyard
