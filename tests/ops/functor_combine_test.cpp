// add, average and multiply.
#include "functor_harness.h"
#include "ops/joins.h"

namespace trainyard {
namespace {

using namespace test;

const Shape kShape{2, 11, 3, 5};

/// Three inputs in three layouts, an output and its gradient.
struct Branches {
  StoredLayout plain{"", plain_layout(kShape)}, blocked{"", blocked_layout(kShape, 16)};
  Tensor<double> a{plain, test::draws(kShape.elements(), 2)};
  Tensor<double> b{test::stored_layouts(kShape)[7], test::draws(kShape.elements() + 7, 1)};
  Tensor<double> c{blocked, test::draws(kShape.elements() + 3, 3)};
  Tensor<double> y{blocked};
  Tensor<double> dy{blocked, test::draws(kShape.elements() + 1, 1)};
  Tensor<double> da{plain}, db{test::stored_layouts(kShape)[7]}, dc{blocked};

  StepTensors tensors(bool all = true) {
    StepTensors out{.inputs = {a.view(), b.view(), c.view()},
                    .outputs = {y.view()},
                    .output_gradients = {dy.view()},
                    .input_gradients = {da.view(), db.view(), dc.view()}};
    if (!all) out.input_gradients[0] = {};
    return out;
  }
};

TEST_CASE("add sums three branches of different layouts and may end in a ReLU") {
  for (const bool relu : {false, true}) {
    Branches x;
    const AddOp op({.relu = relu});
    test::run(op, Pass::forward_train, DType::f64, x.tensors(), 2);
    const auto a = x.a.elements(), b = x.b.elements(), c = x.c.elements(), y = x.y.elements();
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double sum = a[i] + b[i] + c[i];
      CHECK(y[i] == (relu && sum < 0 ? 0 : sum));
    }
    CHECK(x.y.is_clean());
  }
}

TEST_CASE("add writes its gradient once, zero where a fused ReLU clipped the sum") {
  for (const bool relu : {false, true}) {
    Branches x;
    const AddOp op({.relu = relu});
    CHECK(op.contract().shared_gradient);
    CHECK(op.contract().alias_gradient == !relu);
    test::run(op, Pass::forward_train, DType::f64, x.tensors());
    test::run(op, Pass::backward_data, DType::f64, x.tensors());
    const auto y = x.y.elements(), dy = x.dy.elements(), da = x.da.elements();
    for (std::size_t i = 0; i < y.size(); ++i) CHECK(da[i] == (relu && y[i] <= 0 ? 0 : dy[i]));
    for (const double untouched : x.db.elements()) CHECK(std::isnan(untouched));
  }
}

TEST_CASE("a shared gradient is written for the first input that needs one") {
  Branches x;
  test::run(AverageOp(), Pass::backward_data, DType::f64, x.tensors(false));
  const auto dy = x.dy.elements(), db = x.db.elements();
  // (1 / 3) * dy rounds twice.
  for (std::size_t i = 0; i < dy.size(); ++i) CHECK(std::abs(db[i] - dy[i] / 3) <= 0x1p-52);
}

TEST_CASE("average gives the mean of its branches") {
  Branches x;
  test::run(AverageOp(), Pass::forward_eval, DType::f64, x.tensors());
  const auto a = x.a.elements(), b = x.b.elements(), c = x.c.elements(), y = x.y.elements();
  for (std::size_t i = 0; i < y.size(); ++i) {
    // Two more roundings of values up to 6.
    CHECK(std::abs(y[i] - (a[i] + b[i] + c[i]) / 3) <= 2 * 6 * 0x1p-53);
  }
}

TEST_CASE("multiply gives the product, and each input dy times the other inputs") {
  Branches x;
  const MultiplyOp op;
  test::run(op, Pass::forward_train, DType::f64, x.tensors());
  test::run(op, Pass::backward_data, DType::f64, x.tensors());
  const auto a = x.a.elements(), b = x.b.elements(), c = x.c.elements();
  const auto dy = x.dy.elements();
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(x.y.elements()[i] == a[i] * b[i] * c[i]);
    CHECK(x.da.elements()[i] == dy[i] * b[i] * c[i]);
    CHECK(x.db.elements()[i] == dy[i] * a[i] * c[i]);
    CHECK(x.dc.elements()[i] == dy[i] * a[i] * b[i]);
  }
  for (Tensor<double>* tensor : {&x.y, &x.da, &x.db, &x.dc}) CHECK(tensor->is_clean());
}

TEST_CASE("multiply leaves out unused gradients") {
  Branches x;
  test::run(MultiplyOp(), Pass::backward_data, DType::f64, x.tensors(false));
  for (const double untouched : x.da.elements()) CHECK(std::isnan(untouched));
}

/// A map and the factors of its channels, with the gradients of both.
struct Scaling {
  Tensor<double> x, factors, y, dy, dx, dfactors;

  Scaling(const StoredLayout& map, const StoredLayout& scale)
      : x(map, test::draws(kShape.elements(), 2)),
        factors(scale, test::draws(kShape.n() * kShape.c(), 3)),
        y(map),
        dy(map, test::draws(kShape.elements() + 5, 1)),
        dx(map),
        dfactors(scale) {}
  StepTensors tensors(bool map_first, bool map_gradient = true) {
    StepTensors out{.inputs = {x.view(), factors.view()},
                    .outputs = {y.view()},
                    .output_gradients = {dy.view()},
                    .input_gradients = {dx.view(), dfactors.view()}};
    if (!map_gradient) out.input_gradients[0].data = nullptr;
    if (map_first) return out;
    std::swap(out.inputs[0], out.inputs[1]);
    std::swap(out.input_gradients[0], out.input_gradients[1]);
    return out;
  }
};

TEST_CASE("multiply scales channels by factors in every layout, and sums the factors' gradient") {
  const Shape pixel = kShape.with(2, 1).with(3, 1);
  const StoredLayout features{"features", plain_layout({kShape.n(), kShape.c()})};
  std::vector<double> sums;
  for (const StoredLayout& map : test::stored_layouts(kShape)) {
    for (const StoredLayout& scale :
         {features, test::stored_layouts(pixel)[0], test::stored_layouts(pixel)[1],
          test::stored_layouts(pixel)[4]}) {
      CAPTURE(map.name);
      CAPTURE(scale.name);
      Scaling s(map, scale);
      const bool map_first = scale.name != "features";
      test::run(MultiplyOp(), Pass::forward_train, DType::f64, s.tensors(map_first), 2);
      test::run(MultiplyOp(), Pass::backward_data, DType::f64, s.tensors(map_first), 2);
      const auto x = s.x.elements(), factors = s.factors.elements(), dy = s.dy.elements();
      const auto y = s.y.elements(), dx = s.dx.elements(), dfactors = s.dfactors.elements();
      const std::size_t pixels = x.size() / factors.size();
      for (std::size_t i = 0; i < x.size(); ++i) {
        CHECK(y[i] == x[i] * factors[i / pixels]);
        CHECK(dx[i] == dy[i] * factors[i / pixels]);
      }
      for (std::size_t c = 0; c < factors.size(); ++c) {
        double sum = 0;
        for (std::size_t p = 0; p < pixels; ++p) sum += dy[c * pixels + p] * x[c * pixels + p];
        // 15 terms of at most 2, in another order.
        CHECK(std::abs(dfactors[c] - sum) <= 15 * 15 * 2 * 0x1p-53);
      }
      for (Tensor<double>* tensor : {&s.y, &s.dx, &s.dfactors}) CHECK(tensor->is_clean());
      if (sums.empty()) sums = dfactors;
      CHECK(dfactors == sums);  // the order of the sum does not depend on the layout
    }
  }
}

TEST_CASE("multiply scales channels from one layout to another") {
  const StoredLayout features{"", plain_layout({kShape.n(), kShape.c()})};
  for (const StoredLayout& from : test::stored_layouts(kShape)) {
    for (const std::size_t other : {0, 2, 5}) {
      const StoredLayout to = test::stored_layouts(kShape)[other];
      CAPTURE(from.name);
      CAPTURE(to.name);
      Scaling s(from, features);
      Tensor<double> y(to);
      StepTensors tensors = s.tensors(true);
      tensors.outputs = {y.view()};
      test::run(MultiplyOp(), Pass::forward_train, DType::f64, tensors, 2);
      const auto x = s.x.elements(), factors = s.factors.elements(), found = y.elements();
      for (std::size_t i = 0; i < x.size(); ++i) CHECK(found[i] == x[i] * factors[i / 15]);
      CHECK(y.is_clean());
    }
  }
}

template <class Op>
void check_extremum(double sign) {
  const StoredLayout list{"", plain_layout({1, 5})};
  const double inf = std::numeric_limits<double>::infinity();
  const auto signed_list = [&](std::vector<double> values) {
    for (double& value : values) value *= sign;
    return values;
  };
  Tensor<double> a(list, signed_list({1, 2, 3, 0, -inf})), b(list, signed_list({1, 5, 3, -1, 0}));
  Tensor<double> c(list, signed_list({1, 4, 2, 0, inf})), y(list), dy(list, {1, 2, 3, 4, 5});
  Tensor<double> da(list), db(list), dc(list);
  const StepTensors tensors{.inputs = {a.view(), b.view(), c.view()},
                            .outputs = {y.view()},
                            .output_gradients = {dy.view()},
                            .input_gradients = {da.view(), db.view(), dc.view()}};
  test::run(Op(), Pass::forward_train, DType::f64, tensors);
  test::run(Op(), Pass::backward_data, DType::f64, tensors);
  CHECK(y.elements() == signed_list({1, 5, 3, 0, inf}));
  CHECK(da.elements() == std::vector<double>{1, 0, 3, 4, 0});
  CHECK(db.elements() == std::vector<double>{0, 2, 0, 0, 0});
  CHECK(dc.elements() == std::vector<double>{0, 0, 0, 0, 5});
}

TEST_CASE("the first of equal branches takes the gradient of a maximum or a minimum") {
  check_extremum<MaximumOp>(1);
  check_extremum<MinimumOp>(-1);
}

TEST_CASE("multiply leaves out the gradient of a map that needs none") {
  const StoredLayout map = test::stored_layouts(kShape)[1];
  Scaling s(map, {"features", plain_layout({kShape.n(), kShape.c()})});
  test::run(MultiplyOp(), Pass::backward_data, DType::f64, s.tensors(true, false));
  for (const double untouched : s.dx.elements()) CHECK(std::isnan(untouched));
  for (const double sum : s.dfactors.elements()) CHECK(std::isfinite(sum));
}

TEST_CASE("branches of different shapes and single branches are refused with both shapes") {
  const std::vector<Shape> differing = {{2, 3, 4, 4}, {2, 3, 2, 2}};
  CHECK_THROWS_WITH_AS(static_cast<void>(AddOp(AddAttributes{}).infer(differing)),
                       "branches differ: [2, 3, 4, 4] from branch 0, [2, 3, 2, 2] from branch 1",
                       ShapeError);
  const std::vector<Shape> one = {{2, 3}};
  CHECK_THROWS_WITH_AS(static_cast<void>(MultiplyOp().infer(one)),
                       "multiply needs at least two branches, found 1", ShapeError);
}

}  // namespace
}  // namespace trainyard
