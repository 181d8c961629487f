#include "run/evaluator.h"

namespace trainyard {

Totals evaluate(Model& model, Feeder& feeder) {
  feeder.start(0);
  for (std::int64_t step = 0; step < feeder.steps_per_epoch(); ++step) {
    model.load(feeder.next());
    model.evaluate();
  }
  return model.take_totals();
}

}  // namespace trainyard
