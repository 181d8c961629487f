#include "train/evaluator.h"

#include <span>

#include "base/error.h"

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

std::size_t row_width(const Model& model) {
  return static_cast<std::size_t>(model.programs().sizes.results);
}

}  // namespace

Evaluator::Evaluator(Model& model, Feeder& feeder, Communicator& hosts, EvaluatedSplit split)
    : model_(model),
      feeder_(feeder),
      hosts_(hosts),
      split_(split),
      rows_(model.compute().device,
            alone() ? 0 : static_cast<std::size_t>(feeder.batches_per_epoch()) * row_width(model)) {
  TY_CHECK(feeder.options().ranks == hosts.size() && feeder.options().rank == hosts.rank(),
           "the feeder belongs to another rank");
  samples_.reserve(static_cast<std::size_t>(feeder.batches_per_epoch()));
}

Totals Evaluator::run(const std::function<void()>& before_batch) {
  samples_.clear();
  feeder_.start(0);
  for (std::int64_t batch = 0; batch < feeder_.batches_per_epoch(); ++batch) {
    before_batch();
    run_batch();
  }
  // A single rank's device has added the batches in order.
  return alone() ? model_.take_totals() : total_of_rows();
}

void Evaluator::run_batch() {
  model_.load(feeder_.next());
  model_.evaluate(split_);
  if (alone()) return;
  model_.move_results(rows_.data() + samples_.size() * row_width(model_));
  samples_.push_back(model_.take_samples());
}

Totals Evaluator::total_of_rows() {
  const std::vector<double> values = rows_.read(model_.compute().queue);
  const std::size_t width = row_width(model_);
  std::vector<double> mine;
  Totals totals;
  for (std::size_t batch = 0; batch < samples_.size(); ++batch) {
    read_totals(std::span(values).subspan(batch * width, width), samples_[batch], totals);
    append_row(totals, mine);
  }
  const auto ranks = static_cast<std::size_t>(hosts_.size());
  std::vector<double> all(mine.size() * ranks);
  const auto queue = make_cpu_device()->make_queue();
  hosts_.all_gather(*queue, mine.data(), mine.size() * sizeof(double), all.data());
  const std::size_t row = mine.size() / samples_.size();
  Totals sum;
  for (std::size_t batch = 0; batch < samples_.size(); ++batch) {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      sum.add(totals_of(std::span(all).subspan((rank * samples_.size() + batch) * row, row)));
    }
  }
  return sum;
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
