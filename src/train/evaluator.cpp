#include "train/evaluator.h"

#include "base/error.h"
#include "device/device.h"

namespace trainyard {
namespace {

/// Appends totals as a row of doubles: samples, loss, metrics.
void append_row(const Totals& totals, std::vector<double>& rows) {
  rows.push_back(static_cast<double>(totals.samples));
  rows.push_back(totals.loss);
  rows.insert(rows.end(), totals.metrics.begin(), totals.metrics.end());
}

Totals totals_of(std::span<const double> row) {
  return {.loss = row[1],
          .metrics = {row.begin() + 2, row.end()},
          .samples = static_cast<std::int64_t>(row[0])};
}

/// One row per batch of this rank.
std::vector<double> batch_rows(Model& model, Feeder& feeder,
                               const std::function<void()>& before_batch, EvaluatedSplit split) {
  std::vector<double> rows;
  feeder.start(0);
  for (std::int64_t step = 0; step < feeder.steps_per_epoch(); ++step) {
    before_batch();
    model.load(feeder.next());
    model.evaluate(split);
    append_row(model.take_totals(), rows);
  }
  return rows;
}

Totals evaluate_alone(Model& model, Feeder& feeder, const std::function<void()>& before_batch,
                      EvaluatedSplit split) {
  TY_CHECK(feeder.options().ranks == 1, "evaluation on several ranks needs a communicator");
  feeder.start(0);
  for (std::int64_t step = 0; step < feeder.steps_per_epoch(); ++step) {
    before_batch();
    model.load(feeder.next());
    model.evaluate(split);
  }
  return model.take_totals();
}

}  // namespace

Totals evaluate(Model& model, Feeder& feeder) {
  return evaluate_alone(
      model, feeder, [] {}, EvaluatedSplit::validation);
}

Totals evaluate(Model& model, Feeder& feeder, Communicator& hosts,
                const std::function<void()>& before_batch, EvaluatedSplit split) {
  if (hosts.size() == 1) return evaluate_alone(model, feeder, before_batch, split);
  TY_CHECK(feeder.options().ranks == hosts.size() && feeder.options().rank == hosts.rank(),
           "the feeder belongs to another rank");
  const auto ranks = static_cast<std::size_t>(hosts.size());
  const std::vector<double> mine = batch_rows(model, feeder, before_batch, split);
  std::vector<double> all(mine.size() * ranks);
  const auto queue = make_cpu_device()->make_queue();
  hosts.all_gather(*queue, mine.data(), mine.size() * sizeof(double), all.data());
  const auto steps = static_cast<std::size_t>(feeder.steps_per_epoch());
  const std::size_t width = mine.size() / steps;
  Totals totals;
  for (std::size_t step = 0; step < steps; ++step) {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      totals.add(totals_of(std::span(all).subspan((rank * steps + step) * width, width)));
    }
  }
  return totals;
}

std::vector<float> take_outputs(Model& model, Communicator& hosts) {
  std::vector<float> rows = model.output_rows()->take();
  if (hosts.size() == 1) return rows;
  // Each row was computed by one rank and is zero on the others: a sum of bit patterns keeps it.
  const auto queue = make_cpu_device()->make_queue();
  hosts.all_reduce_sum(*queue, rows.data(), static_cast<std::int64_t>(rows.size()), DType::i32);
  return rows;
}

}  // namespace trainyard
