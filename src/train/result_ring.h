// The device's results of each step, on their way to the host.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device/device.h"
#include "model/model.h"

namespace trainyard {

/// Results of a step.
struct StepResult {
  double rate = 0;           // learning rate used, the optimizer's own decay included
  double gradient_norm = 0;  // before clipping, L2 terms included
  double loss_scale = 1;
  bool finite = true;  // false: this step and all later ones were withheld
  /// Only this step was withheld: the loss scale was too large, or no sample counts.
  bool skipped = false;
  Totals totals;  // over its batches, on all ranks
};

/// Rows of results, one per step, which the device writes in turn. With `kept` above 1 they are
/// sent to the host `kept` at a time and read `kept` steps later, so that the host never waits for
/// the step in progress; with 1 each is read at once. Allocates nothing after construction.
class ResultRing {
 public:
  /// Rows of `width` doubles (ResultRow). Device and queue must outlive it.
  ResultRing(const Compute& compute, std::int64_t width, std::int64_t kept);

  /// Rows on the device: [capacity()][width].
  [[nodiscard]] double* rows() const { return rows_.data(); }
  [[nodiscard]] std::int64_t width() const { return width_; }
  [[nodiscard]] std::int64_t capacity() const { return halves() * kept_; }

  /// The next result is that of step `step`, counted from 0. Call it only while none is pending.
  void start_at(std::int64_t step) { end_ = step; }
  /// Counts an enqueued step with `samples` samples on all ranks.
  void add(std::int64_t samples);
  /// Steps whose results have not been taken.
  [[nodiscard]] std::int64_t pending() const { return static_cast<std::int64_t>(samples_.size()); }
  /// True if results must be taken before the next step: by take_oldest(), or all.
  [[nodiscard]] bool full() const;
  /// Waits for all pending steps; oldest first. Valid until the next call.
  [[nodiscard]] std::span<const StepResult> take_all();
  /// When full(): the results that were sent `kept` steps ago; with `kept` 1 those of the last
  /// step.
  [[nodiscard]] std::span<const StepResult> take_oldest();

 private:
  /// Half of the rows, on its way to the host.
  struct Half {
    std::unique_ptr<DeviceBuffer> rows;  // [kept][width]
    std::unique_ptr<Event> sent;
  };

  [[nodiscard]] std::int64_t halves() const { return kept_ > 1 ? 2 : 1; }
  [[nodiscard]] std::size_t row_of(std::int64_t step) const {
    return static_cast<std::size_t>(step % capacity());
  }
  void send_half();
  /// The `count` oldest, from `rows`, which begin at row `first_row` of rows_.
  [[nodiscard]] std::span<const StepResult> take(std::int64_t count, std::span<const double> rows,
                                                 std::size_t first_row);

  Queue& queue_;
  std::int64_t width_, kept_;
  std::int64_t end_ = 0;               // steps so far
  std::vector<std::int64_t> samples_;  // samples of each pending step
  std::vector<double> taken_rows_;     // copy of rows_
  std::vector<StepResult> taken_;
  DeviceArray<double> rows_;
  std::array<Half, 2> half_;
};

}  // namespace trainyard
