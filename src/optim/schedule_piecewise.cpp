// A table of learning rates: `piecewise: [[0, 1e-3], [81, 1e-4]]`.
#include <string>
#include <vector>

#include "optim/kinds.h"
#include "optim/timed_schedule.h"

namespace trainyard {
namespace {

class Piecewise final : public TimedSchedule {
 public:
  explicit Piecewise(config::Fields& fields) {
    fields.rest("table", rows_,
                "rows [t, lr] with rising t; before the first t, the optimizer's learning rate",
                {.minimum = 0});
    declare_time(fields);
    check(fields);
  }
  [[nodiscard]] std::string_view name() const override { return "piecewise"; }

 private:
  void check(config::Fields& fields) const {
    if (!fields.given("table")) {
      fields.error("", "'piecewise' needs rows [t, lr], as in [[0, 1e-3], [81, 1e-4]]");
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].size() == 2 && (i == 0 || rows_[i][0] > rows_[i - 1][0])) continue;
      fields.error("table", "'table' must hold rows [t, lr] with rising t; row " +
                                std::to_string(i + 1) + " is not one");
      return;
    }
  }

  [[nodiscard]] double at(double t, double, double base) const override {
    double rate = base;
    for (const std::vector<double>& row : rows_) {
      if (t >= row[0]) rate = row[1];
    }
    return rate;
  }

  [[nodiscard]] double last_boundary() const override {
    return rows_.empty() ? 0 : rows_.back()[0];
  }

  std::vector<std::vector<double>> rows_;
};

}  // namespace

std::unique_ptr<Schedule> read_piecewise(config::Fields& fields) {
  return std::make_unique<Piecewise>(fields);
}

}  // namespace trainyard
