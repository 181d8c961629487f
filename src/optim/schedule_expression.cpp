// A formula: `expression: $base * 0.95**epoch`.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/plural.h"
#include "config/expression.h"
#include "config/load.h"
#include "optim/kinds.h"

namespace trainyard {
namespace {

config::Node real(double value) {
  config::Node node;
  node.kind = config::Node::Kind::real;
  node.real = value;
  return node;
}
config::Node whole(std::int64_t value) {
  config::Node node = real(static_cast<double>(value));
  node.kind = config::Node::Kind::integer;
  node.integer = value;
  return node;
}

class Expression final : public Schedule {
 public:
  explicit Expression(config::Fields& fields) {
    fields.required("lr", formula_,
                    "learning rate as an expression: $base * 0.95**epoch. Names: base, the "
                    "optimizer's; epoch, step: those finished; epochs, steps: those of the run");
    formula_.where = fields.where("lr");
  }
  [[nodiscard]] std::string_view name() const override { return "expression"; }
  /// After the run's last step the value at that step: a formula need not have one there.
  [[nodiscard]] double rate(std::int64_t step, const ScheduleContext& context) const override {
    const std::int64_t per_epoch = context.steps_per_epoch;
    const std::int64_t steps = context.epochs * per_epoch - context.before;
    step = std::min(step, steps - 1);
    const config::Scope scope{{"base", real(context.base)},
                              {"step", whole(step)},
                              {"steps", whole(steps)},
                              {"epoch", whole(step / per_epoch)},
                              {"epochs", whole(context.epochs - context.before / per_epoch)}};
    config::Diagnostics diagnostics;
    const config::Node value = config::evaluate(formula_, scope, diagnostics);
    diagnostics.raise();
    if (value.is_number() && std::isfinite(value.real) && value.real >= 0) return value.real;
    diagnostics.error(formula_.where, "the learning rate must be a number of at least 0, found " +
                                          config::describe(value) + " after " +
                                          count_text(step, "step"));
    diagnostics.raise();
    return 0;
  }

 private:
  config::Node formula_;
};

}  // namespace

std::unique_ptr<Schedule> read_expression(config::Fields& fields) {
  return std::make_unique<Expression>(fields);
}

}  // namespace trainyard
