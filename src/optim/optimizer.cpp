#include "optim/optimizer.h"

#include <array>

namespace trainyard {
namespace {

void declare_rest(config::Fields& fields, Optimizer& optimizer) {
  optimizer.where = fields.where();
  fields.one_of("rest", optimizer.rest,
                "the optimizer of parameters that are not matrices, such as biases; its lr follows "
                "the schedule",
                optimizer_kinds().first(optimizer_kinds().size() - 1));
  if (optimizer.rest && optimizer.rate == 0) {
    fields.error("rest",
                 "'rest' needs an 'lr' above 0 beside it, to whose schedule its own is in "
                 "proportion");
  }
}

template <class Listed>
std::unique_ptr<Optimizer> read_optimizer(config::Fields& fields) {
  auto optimizer = std::make_unique<Optimizer>();
  optimizer->name = Listed::kName;
  const VariantOf<RulesOf, std::tuple<Listed>> rule = Listed::read(fields, *optimizer);
  std::visit([&](const auto& own) { optimizer->rule = own; }, rule);
  if (of_matrices(optimizer->rule)) declare_rest(fields, *optimizer);
  return optimizer;
}

template <class... Listed>
constexpr auto kinds_of(std::tuple<Listed...>* /*list*/) {
  return std::array{
      config::Kind<Optimizer>{Listed::kName, Listed::kHelp, read_optimizer<Listed>}...};
}

}  // namespace

std::span<const config::Kind<Optimizer>> optimizer_kinds() {
  static constexpr auto kKinds = kinds_of(static_cast<Optimizers*>(nullptr));
  return kKinds;
}

const Optimizer& optimizer_of(const std::string& name, const Optimizer& usual,
                              const ParameterOverrides& overrides) {
  const auto found = overrides.find(name);
  return found == overrides.end() || !found->second.optimizer ? usual : *found->second.optimizer;
}

bool needs_norms(const UpdateRule& rule) {
  return std::visit([]<class Rule>(const Rule&) { return HasTrustRatio<Rule> || OfMatrices<Rule>; },
                    rule);
}

bool of_matrices(const UpdateRule& rule) {
  return std::visit([]<class Rule>(const Rule&) { return OfMatrices<Rule>; }, rule);
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
