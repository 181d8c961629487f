// Updates of the state that kernels read between steps.
#include <doctest/doctest.h>

#include <vector>

#include "optim/step_functors.h"
#include "optim/update_launches.h"

namespace trainyard {
namespace {

constexpr std::int64_t kWidth = ResultRow::loss + 2;  // a loss and a metric

/// A state with its rows, and one step of it.
struct Steps {
  StepState state;
  LossScale scale;
  std::vector<double> current = std::vector<double>(kWidth);
  std::vector<double> rows = std::vector<double>(3 * kWidth, -1);

  void update(bool finite) {
    current[ResultRow::loss] = 5 + static_cast<double>(state.tried);
    if (!finite && state.nonfinite_step < 0) state.nonfinite_step = state.step;
    EndUpdate{&state, current.data(), rows.data(), kWidth, 3, scale}(0);
  }
  [[nodiscard]] double last(ResultRow::Column column) const {
    return rows[static_cast<std::size_t>((state.tried - 1) % 3 * kWidth + column)];
  }
};

TEST_CASE("a step takes its learning rate from the window and its scale from the samples") {
  RateWindow window{.first = 7};
  window.rates[0] = 0.5;
  window.rates[2] = 0.25;
  StepState state{.tried = 7, .loss_scale = 8};
  BeginUpdate{&state, &window, 32}(0);
  CHECK(state.rate == 0.5);
  CHECK(state.gradient_scale == 0.25);
  state.tried = 9;
  BeginUpdate{&state, &window, 64}(0);
  CHECK(state.rate == 0.25);
  CHECK(state.gradient_scale == 0.125);
}

TEST_CASE("the end of a step begins the next one, unless the window ends before it") {
  RateWindow window{.first = 2};
  window.rates[0] = 0.5;
  window.rates[1] = 0.25;
  Steps steps;
  steps.state = {.tried = 2, .rate = 0.5, .loss_scale = 8};
  EndUpdate end{&steps.state, steps.current.data(), steps.rows.data(), kWidth, 3};
  end.next = {&steps.state, &window, 32};
  end(0);
  CHECK(steps.last(ResultRow::rate) == 0.5);
  CHECK(steps.state.rate == 0.25);
  CHECK(steps.state.gradient_scale == 0.25);
  window.first = steps.state.tried + 1 - RateWindow::kRates;
  end(0);
  CHECK(steps.state.rate == 0.25);
}

TEST_CASE("the end of a step stores its results in the next row, clears the sums and counts") {
  Steps steps;
  steps.state.rate = 0.125;
  for (int update = 0; update < 4; ++update) {
    steps.update(true);
    CHECK(steps.current == std::vector<double>(kWidth, 0));
    CHECK(steps.last(ResultRow::loss) == 5 + update);
    CHECK(steps.last(ResultRow::rate) == 0.125);
    CHECK(steps.last(ResultRow::withheld) == 0);
  }
  CHECK(steps.state.step == 4);
  CHECK(steps.state.tried == 4);
  CHECK(steps.rows[ResultRow::loss] == 8);           // the fourth replaces the first
  CHECK(steps.rows[kWidth + ResultRow::loss] == 6);  // the second
}

TEST_CASE("a non-finite step and all later ones are marked as withheld") {
  Steps steps;
  steps.update(true);
  for (const bool finite : {false, true}) {
    steps.update(finite);
    CHECK(steps.last(ResultRow::withheld) == 1);
    CHECK(steps.last(ResultRow::skipped) == 0);
  }
  CHECK(steps.state.step == 1);
  CHECK(steps.state.tried == 3);
}

TEST_CASE("a step that is marked as skipped is undone, and changes neither count nor loss scale") {
  Steps steps{.state = {.loss_scale = 4, .good_steps = 1},
              .scale = {.start = 4, .dynamic = true, .growth = 2}};
  steps.current[ResultRow::skipped] = 1;
  steps.update(false);
  CHECK(steps.last(ResultRow::skipped) == 1);
  CHECK(steps.last(ResultRow::withheld) == 0);
  CHECK(steps.state.nonfinite_step == -1);
  CHECK(steps.state.tried == 1);
  CHECK(steps.state.step == 0);
  CHECK(steps.state.loss_scale == 4);
  CHECK(steps.state.good_steps == 1);
  CHECK(steps.current[ResultRow::skipped] == 0);
}

TEST_CASE("the learning rate of a step's results includes Keras's decay") {
  StepState state{.step = 3, .tried = 5, .rate = 0.01};
  std::vector<double> current(kWidth), rows(kWidth);
  EndUpdate{&state, current.data(), rows.data(), kWidth, 1, {}, 0.1}(0);
  CHECK(rows[ResultRow::rate] == 0.01 / (1 + 0.1 * 3));
}

TEST_CASE("a dynamic loss scale is halved by an overflow, which is skipped, down to 1") {
  Steps steps{.state = {.loss_scale = 4, .good_steps = 1},
              .scale = {.start = 4, .dynamic = true, .growth = 2}};
  steps.update(false);
  CHECK(steps.last(ResultRow::skipped) == 1);
  CHECK(steps.last(ResultRow::withheld) == 0);
  CHECK(steps.last(ResultRow::loss_scale) == 4);
  CHECK(steps.state.loss_scale == 2);
  CHECK(steps.state.good_steps == 0);
  CHECK(steps.state.step == 0);
  steps.update(true);
  CHECK(steps.state.loss_scale == 2);
  steps.update(true);
  CHECK(steps.state.loss_scale == 4);
  CHECK(steps.state.step == 2);
  for (int update = 0; update < 2; ++update) steps.update(false);
  CHECK(steps.state.loss_scale == 1);
  steps.update(false);  // at scale 1 it is not an overflow
  CHECK(steps.last(ResultRow::withheld) == 1);
  CHECK(steps.state.nonfinite_step == 2);
}

TEST_CASE("a dynamic loss scale is doubled after every `growth` good steps") {
  Steps steps{.state = {.loss_scale = 4}, .scale = {.start = 4, .dynamic = true, .growth = 3}};
  std::vector<double> scales;
  for (int update = 0; update < 9; ++update) {
    steps.update(true);
    scales.push_back(steps.state.loss_scale);
  }
  CHECK(scales == std::vector<double>{4, 4, 8, 8, 8, 16, 16, 16, 32});
}

TEST_CASE("the launches of a step do their work once") {
  const auto launches = make_cpu_update_launches(2);
  StepState state{.tried = 1, .loss_scale = 2, .valid = 3};
  RateWindow window{.first = 1};
  window.rates[0] = 0.5;
  launches->begin({.state = &state, .window = &window, .samples = 4});
  CHECK(state.rate == 0.5);
  const std::vector<float> losses{1, 2, 4, 8};
  double total = 0.25;
  launches->add_results({.list = {{losses.data()}}, .count = 1, .samples = 4, .state = &state},
                        &total);
  CHECK(total == 7.25);
  std::vector<double> current(kWidth), rows(kWidth);
  launches->end({.state = &state,
                 .current = current.data(),
                 .rows = rows.data(),
                 .width = kWidth,
                 .capacity = 1});
  CHECK(state.tried == 2);
  CHECK(state.step == 1);
  CHECK(rows[ResultRow::rate] == 0.5);
}

TEST_CASE("rows of a batch are stored by the indices of its valid samples") {
  const StepState state{.valid = 3};
  const std::vector<double> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};  // [4, 3]
  const std::vector<std::int64_t> indices{3, 1, 2, 0};
  std::vector<float> rows(4 * 3, -1);
  make_cpu_update_launches(2)->store_rows({values.data(), DType::f64, 4, 3, &state}, indices.data(),
                                          rows.data());
  CHECK(rows == std::vector<float>{-1, -1, -1, 4, 5, 6, 7, 8, 9, 1, 2, 3});
}

TEST_CASE("a dynamic loss scale stops growing at 2^24") {
  Steps steps{.state = {.loss_scale = 1 << 23}, .scale = {.dynamic = true, .growth = 1}};
  for (int update = 0; update < 3; ++update) steps.update(true);
  CHECK(steps.state.loss_scale == 1 << 24);
}

}  // namespace
}  // namespace trainyard
