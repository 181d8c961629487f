// The most confident wrong predictions.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "report/class_table.h"

using namespace trainyard;

TEST_CASE("mistakes.csv lists wrong predictions, the most probable first, with names") {
  const std::vector<std::int32_t> labels{0, 1, 1, 0, 1};
  // Predicted: 0 (right), 0 with 0.5 / 0.75, 0 with 0.9 / 1, 1 with 0.75 / 1, none.
  const auto logit = [](double value) { return static_cast<float>(std::log(value)); };
  const std::vector<float> rows{logit(0.9), logit(0.1), logit(0.5), logit(0.25), logit(0.9),
                                logit(0.1), logit(1),   logit(3),   NAN,         0};
  const SplitOutputs outputs{.rows = rows, .labels = labels, .classes = 2};
  const std::vector<std::string> names{"cat", "dog, small"};
  CHECK(mistakes_csv(most_confident_mistakes(sample_predictions(outputs)), names) ==
        "sample,label,predicted,probability\n"
        "2,\"dog, small\",cat,0.9\n"
        "3,cat,\"dog, small\",0.75\n"
        "1,\"dog, small\",cat,0.666667\n");
  CHECK(mistakes_csv(most_confident_mistakes(sample_predictions(outputs), 1), names) ==
        "sample,label,predicted,probability\n2,\"dog, small\",cat,0.9\n");
  CHECK(mistakes_csv(most_confident_mistakes(sample_predictions(outputs), 1), names,
                     std::vector<std::string>{"d/1.png"}) ==
        "sample,label,predicted,probability,file\n2,\"dog, small\",cat,0.9,d/1.png\n");
}

TEST_CASE("a single output is a logit or a probability of class 1; equal ones are by index") {
  const std::vector<std::int32_t> labels{1, 0, 1, 1};
  const std::vector<float> logits{0, 0, -1, 2};  // 0 predicts class 0
  const SplitOutputs of_logits{.rows = logits, .labels = labels};
  CHECK(mistakes_csv(most_confident_mistakes(sample_predictions(of_logits)), {}) ==
        "sample,label,predicted,probability\n2,1,0,0.731059\n0,1,0,0.5\n");
  const std::vector<float> chances{0.25f, 0.75f, 0.25f, 0.9f};
  const SplitOutputs of_chances{
      .rows = chances, .labels = labels, .threshold = 0.5, .logits = false};
  CHECK(mistakes_csv(most_confident_mistakes(sample_predictions(of_chances)), {}) ==
        "sample,label,predicted,probability\n0,1,0,0.75\n1,0,1,0.75\n2,1,0,0.75\n");
}
