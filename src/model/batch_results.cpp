#include "model/model.h"
#include "optim/step_functors.h"

namespace trainyard {

BatchResults::BatchResults(const Compute& compute, const TrainingGraph& graph,
                           const ModelMemory& memory, const Program& program)
    : compute_(compute),
      common_{.samples = memory.batch() * graph.positions,
              .positions = graph.positions,
              .weights = graph.sample_weights < 0
                             ? nullptr
                             : program.view(graph.sample_weights).as<const float>(),
              .state = memory.state()},
      totals_(memory.results() + ResultRow::loss) {
  const auto add = [&](ValueId value, std::int64_t width) {
    const TensorView view = program.view(value);
    append({view.data, view.type, width});
  };
  add(graph.loss, 1);
  for (const GraphMetric& metric : graph.metrics) {
    if (!is_of_split(metric)) add(metric.output, metric.width);
  }
  if (graph.sample_weights < 0) return;
  add(graph.sample_weights, 1);
  append({});  // their number
}

void BatchResults::append(const ResultValues& values) {
  if (tables_.empty() || tables_.back().count == ResultTable::kMost) tables_.push_back(common_);
  ResultTable& table = tables_.back();
  table.list[table.count++] = values;
}

std::optional<ResultSums> BatchResults::in_one() const {
  if (tables_.size() > 1) return std::nullopt;
  return ResultSums{tables_.front(), totals_};
}

void BatchResults::add() const {
  double* totals = totals_;
  for (const ResultTable& table : tables_) {
    compute_.launches.add_results(table, totals);
    totals += table.columns();
  }
}

OutputRows::OutputRows(const Compute& compute, ModelMemory& memory, const TensorView& output,
                       std::int64_t samples, int threads)
    : compute_(compute),
      memory_(memory),
      plain_{memory.plain_outputs(), memory.type(), plain_layout(shape_of(output.layout))},
      reorder_(compute.executors.make_reorder(output.layout, output.type, plain_.layout,
                                              plain_.type, threads)),
      samples_(samples),
      width_(shape_of(output.layout).elements() / memory.batch()) {
  reorder_->bind({.inputs = {output}, .outputs = {plain_}});
}

void OutputRows::store() {
  reorder_->run();
  compute_.launches.store_rows({.values = plain_.data,
                                .type = plain_.type,
                                .samples = memory_.batch(),
                                .width = width_,
                                .state = memory_.state()},
                               memory_.sample_index(), memory_.output_rows());
}

std::vector<float> OutputRows::take() {
  std::vector<float> rows(static_cast<std::size_t>(samples_ * width_));
  Queue& queue = compute_.queue;
  queue.copy_to_host(rows.data(), memory_.output_rows(), rows.size() * sizeof(float));
  queue.fill(memory_.output_rows(), std::byte{0}, rows.size() * sizeof(float));
  queue.wait();
  return rows;
}

}  // namespace trainyard
