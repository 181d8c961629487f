#include "train/result_ring.h"

#include "base/error.h"

namespace trainyard {

ResultRing::ResultRing(const Compute& compute, std::int64_t width, std::int64_t kept)
    : queue_(compute.queue),
      width_(width),
      kept_(kept),
      rows_(compute.device, static_cast<std::size_t>(capacity() * width)) {
  samples_.reserve(static_cast<std::size_t>(capacity()));
  taken_rows_.resize(rows_.size());
  taken_.resize(static_cast<std::size_t>(capacity()));
  if (halves() == 1) return;
  for (Half& half : half_) {
    half = {compute.device.allocate_host(rows_.size() * sizeof(double) / 2),
            compute.device.make_event()};
  }
}

void ResultRing::add(std::int64_t samples) {
  ++end_;
  samples_.push_back(samples);
  if (halves() > 1 && end_ % kept_ == 0) send_half();
}

void ResultRing::send_half() {
  Half& half = half_[static_cast<std::size_t>(end_ / kept_ % 2)];
  const std::size_t first = row_of(end_ - kept_) * static_cast<std::size_t>(width_);
  queue_.copy_to_host(half.rows->data(), rows_.data() + first, half.rows->bytes());
  half.sent->record(queue_);
}

bool ResultRing::full() const {
  if (halves() == 1) return pending() == kept_;
  return end_ % kept_ == 0 && pending() > kept_;
}

std::span<const StepResult> ResultRing::take_all() {
  rows_.read(queue_, taken_rows_);
  return take(pending(), taken_rows_, 0);
}

std::span<const StepResult> ResultRing::take_oldest() {
  TY_CHECK(full(), "the oldest results can be taken only when the ring is full");
  if (halves() == 1) return take_all();
  const std::int64_t end = end_ - kept_;
  const Half& half = half_[static_cast<std::size_t>(end / kept_ % 2)];
  half.sent->wait();
  const auto* const rows = static_cast<const double*>(half.rows->data());
  return take(pending() - kept_, {rows, half.rows->bytes() / sizeof(double)}, row_of(end - kept_));
}

std::span<const StepResult> ResultRing::take(std::int64_t count, std::span<const double> rows,
                                             std::size_t first_row) {
  const auto width = static_cast<std::size_t>(width_);
  const std::int64_t first = end_ - pending();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto row = rows.subspan((row_of(first + i) - first_row) * width, width);
    StepResult& result = taken_[static_cast<std::size_t>(i)];
    result.rate = row[ResultRow::rate];
    result.gradient_norm = with_plain_nan(row[ResultRow::gradient_norm]);
    result.loss_scale = row[ResultRow::loss_scale];
    result.finite = row[ResultRow::withheld] == 0;
    result.skipped = row[ResultRow::skipped] != 0;
    read_totals(row, samples_[static_cast<std::size_t>(i)], result.totals);
  }
  samples_.erase(samples_.begin(), samples_.begin() + count);
  return std::span<const StepResult>(taken_).first(static_cast<std::size_t>(count));
}

}  // namespace trainyard
