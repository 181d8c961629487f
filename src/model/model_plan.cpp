#include "model/model_plan.h"

namespace trainyard {

std::string plan_text(const TrainingGraph& graph, const ExecutorFactory& executors,
                      const ModelOptions& options) {
  const ModelPrograms programs = make_programs(graph, executors, options);
  return text_of(programs.train->plan()) + text_of(forecast(programs)) + "\n";
}

std::string plan_text_without_device(const TrainingGraph& graph, const ModelOptions& options) {
  const ModelPlans plans = make_plans_without_device(graph, options.target);
  return text_of(*plans.train) + text_of(forecast(plans, graph, options)) + "\n";
}

}  // namespace trainyard
