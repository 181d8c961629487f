// Every optimizer against the formulas of the frameworks whose forms it has, in float64
// (scripts/make_optimizer_goldens.py).
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>

#include "blocks.h"
#include "compute/matmul/loop_product.h"
#include "compute/matmul/matrix_products.h"
#include "optim/newton_schulz.h"
#include "optim/update_launches.h"
#include "read.h"

namespace trainyard {
namespace {

/// A chunk as one matrix, for rules of matrices: memory, and products of plain loops.
class ChunkMatrix {
 public:
  ChunkMatrix(const Muon& rule, std::int64_t rows)
      : columns_(kChunk / rows), least_(std::min(rows, columns_)), memory_(4 * kChunk * kChunk) {
    double* const at = memory_.data();
    batch_ = {.places = &place_,
              .count = 1,
              .rows = least_,
              .columns = kChunk / least_,
              .transposed = rows > columns_,
              .scale = rule.scale(rows, columns_),
              .matrices = at,
              .next = at + kChunk,
              .gram = at + 2 * kChunk,
              .polynomial = at + 2 * kChunk + kChunk * kChunk,
              .outer = &outer_,
              .square = &square_,
              .apply = &apply_};
  }
  [[nodiscard]] std::span<const MatrixBatch> view() const { return {&batch_, 1}; }

 private:
  using Loops = ProductsInTurn<double, reference::LoopProduct<double>>;
  static Loops loops(const ProductShape& shape) { return {{CpuLauncher(1), shape}, shape}; }

  std::int64_t columns_, least_, most_ = kChunk / least_;
  std::vector<double> memory_;
  MatrixPlace place_;
  Loops outer_ = loops({least_, least_, most_, false, true});
  Loops square_ = loops({least_, least_, least_});
  Loops apply_ = loops({least_, most_, least_});
  MatrixBatch batch_;
};

/// A chunk whose state blocks have their start values.
test::Blocks<double> blocks_for(const Optimizer& rule) {
  test::Blocks<double> blocks(1, {{}}, rule.slots.size());
  Segment& segment = blocks.segments[0];
  const double decay = rule.weight_decay.amount;
  (rule.weight_decay.decoupled ? segment.decoupled_decay : segment.decay) = decay;
  segment.adapted = rule.ratio_on.empty() ? 0 : 1;
  for (std::size_t slot = 0; slot < rule.slots.size(); ++slot) {
    blocks.slots[slot].assign(blocks.slots[slot].size(), rule.slots[slot].start);
  }
  return blocks;
}

void check_steps(const config::Node& golden) {
  const auto rule = test::optimizer_of(golden);
  test::Blocks<double> blocks = blocks_for(*rule);
  std::optional<ChunkMatrix> matrix;
  if (const config::Node* shape = golden.find("shape")) {
    blocks.segments[0].rows = shape->items[0].integer;
    matrix.emplace(std::get<Muon>(rule->rule), blocks.segments[0].rows);
  }
  const auto launches = make_cpu_update_launches(1);
  const auto& rows = golden.find("weights")->items;
  REQUIRE(rows.size() >= 10);
  for (std::size_t step = 0; step < rows.size(); ++step) {
    CAPTURE(step);
    blocks.set_gradients(static_cast<int>(step));
    blocks.state.step = static_cast<std::int64_t>(step);
    blocks.state.rate = rule->rate / (1 + 0.1 * static_cast<double>(step));
    UpdateBlocks view = blocks.view();
    if (matrix) view.matrices = matrix->view();
    launches->update(view, rule->rule, rule->time_decay, {});
    for (std::size_t i = 0; i < rows[step].items.size(); ++i) {
      // Values below 10 from a few dozen roundings of 2^-53 each step; Adadelta's first steps
      // divide by a root of 1e-7, which multiplies none of them.
      CHECK(std::abs(blocks.weights[i] - rows[step].items[i].real) < 1e-13);
    }
  }
}

TEST_CASE("every optimizer follows the framework whose form it has, step by step") {
  for (const config::Node& golden : test::golden_cases().items) {
    CAPTURE(golden.find("case")->text);
    check_steps(golden);
  }
}

TEST_CASE("every optimizer of the list has a golden, and so has every rule") {
  std::set<std::string_view> names;
  std::set<std::size_t> rules;
  for (const auto& optimizer : test::every_optimizer()) {
    names.insert(optimizer->name);
    rules.insert(optimizer->rule.index());
  }
  for (const auto& kind : optimizer_kinds()) CHECK(names.contains(kind.name));
  CHECK(rules.size() == std::variant_size_v<UpdateRule>);
}

TEST_CASE("every optimizer and schedule of the lists is a row of docs/language/optimizers.md") {
  std::ifstream file(std::string(TY_SOURCE_DIR) + "/docs/language/optimizers.md");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto expect_row = [&](std::string_view name) {
    CAPTURE(name);
    CHECK(text.find("\n| `" + std::string(name)) != text.npos);
  };
  for (const auto& kind : optimizer_kinds()) expect_row(kind.name);
  for (const auto& kind : schedule_kinds()) expect_row(kind.name);
}

TEST_CASE("a batch of matrices has the elements of all of them") {
  CHECK(MatrixBatch{.count = 5, .rows = 2, .columns = 3}.elements() == 30);
}

TEST_CASE("the running number of a rule is a function of the finished steps, to the bit") {
  const auto nadam = test::optimizer("nadam");
  test::Blocks<float> blocks(1, {{}}, nadam->slots.size());
  const auto launches = make_cpu_update_launches(1);
  for (std::int64_t step = 0; step < 300; ++step) {
    REQUIRE(running_number(nadam->rule, step) == blocks.running_number);
    blocks.state.step = step;
    launches->update(blocks.view(), nadam->rule, 0, {});
  }
  const double last = blocks.running_number;
  CHECK(last < 1e-50);
  for (const std::int64_t withheld : {0, 300}) {  // such a step does not count
    blocks.state.nonfinite_step = withheld;
    launches->update(blocks.view(), nadam->rule, 0, {});
    CHECK(blocks.running_number == last);
  }
  CHECK(running_number(test::optimizer("adam")->rule, 300) == 1);
}

}  // namespace
}  // namespace trainyard
