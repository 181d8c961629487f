#include "optim/optimizer.h"

#include "optim/kinds.h"
#include "optim/parameter_rule.h"

namespace trainyard {

std::span<const config::Kind<Optimizer>> optimizer_kinds() {
  static constexpr config::Kind<Optimizer> kKinds[] = {
      {"sgd", "stochastic gradient descent with momentum", read_sgd},
      {"rmsprop", "gradient over its running root mean square", read_rmsprop},
      {"adam", "running mean over running root mean square (Kingma and Ba 2015)", read_adam},
      {"adamw", "adam with decoupled weight decay (Loshchilov and Hutter 2019)", read_adamw},
      {"adamax", "running mean over the largest gradient (Kingma and Ba 2015)", read_adamax},
      {"nadam", "adam with Nesterov's momentum on a schedule (Dozat 2016)", read_nadam},
      {"adagrad", "gradient over the root of its summed squares (Duchi et al. 2011)", read_adagrad},
      {"adadelta",
       "gradient times the running size of changes over that of gradients (Zeiler 2012)",
       read_adadelta},
      {"lars", "momentum with a rate for each parameter by its norms (You et al. 2017)", read_lars},
      {"lamb", "adam with a rate for each parameter by its norms (You et al. 2020)", read_lamb},
  };
  return kKinds;
}

const Optimizer& optimizer_of(const std::string& name, const Optimizer& usual,
                              const ParameterRules& rules) {
  const auto rule = rules.find(name);
  return rule == rules.end() || !rule->second.optimizer ? usual : *rule->second.optimizer;
}

bool needs_norms(const UpdateRule& rule) {
  return std::visit([]<class Rule>(const Rule&) { return HasTrustRatio<Rule>; }, rule);
}

double running_number(const UpdateRule& rule, std::int64_t finished) {
  return std::visit(
      [&]<class Rule>(const Rule& own) {
        double number = 1;
        if constexpr (HasRunningNumber<Rule>) {
          for (std::int64_t step = 0; step < finished; ++step) number = own.advanced(number, step);
        }
        return number;
      },
      rule);
}

}  // namespace trainyard
