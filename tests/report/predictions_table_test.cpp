// predictions.csv: what a network makes of every sample.
#include <doctest/doctest.h>

#include <cmath>

#include "report/class_table.h"

using namespace trainyard;

namespace {

std::string of_classes(const PredictedSplit& split, const SplitOutputs& outputs,
                       const std::vector<std::string>& names) {
  return predictions_csv(split, sample_predictions(outputs), names, outputs.classes);
}

}  // namespace

TEST_CASE("a row of classes has the prediction, its probability, the loss and all probabilities") {
  const auto logit = [](double value) { return static_cast<float>(std::log(value)); };
  const PredictedSplit split{
      .names = {"a/1.png", "b, 2.png", "3", "4"},
      .outputs = {logit(0.75), logit(0.25), logit(1), logit(3), NAN, 0, 0, 0},
      .losses = {0.287682F, 1.386294F, NAN, 0.693147F},
      .labels = {0, 0, 1, 7},
      .logits = true};
  const std::vector<std::int32_t> counted{0, 0, 1, -1};  // label 7 is ignored
  const SplitOutputs outputs{.rows = split.outputs, .labels = counted, .classes = 2};
  CHECK(of_classes(split, outputs, {"cat", "dog"}) ==
        "sample,name,label,predicted,probability,loss,probability_cat,probability_dog\n"
        "0,a/1.png,cat,cat,0.75,0.287682,0.75,0.25\n"
        "1,\"b, 2.png\",cat,dog,0.75,1.386294,0.25,0.75\n"
        "2,3,dog,none,,nan,nan,nan\n"
        "3,4,7,cat,0.5,,0.5,0.5\n");
}

TEST_CASE("the mistakes are rows of the same predictions") {
  const std::vector<float> rows{2, 1, 3, 4, 0, 1};
  const std::vector<std::int32_t> labels{1, 1, 0};
  const std::vector<SamplePrediction> predictions =
      sample_predictions({.rows = rows, .labels = labels});
  for (const Mistake& mistake : most_confident_mistakes(predictions)) {
    const SamplePrediction& one = predictions.at(static_cast<std::size_t>(mistake.sample));
    CHECK(one.label == mistake.label);
    CHECK(one.predicted == mistake.predicted);
    CHECK(one.probability == mistake.probability);
  }
  CHECK(most_confident_mistakes(predictions).size() == 2);
}

TEST_CASE("only the predicted one's probability of more than a hundred classes is written") {
  std::vector<float> row(kMostProbabilities + 1, 0.0F);
  row[3] = 1;
  const PredictedSplit split{.names = {"x"}, .outputs = row, .losses = {2}, .labels = {3}};
  const std::vector<std::int32_t> labels{3};
  CHECK(of_classes(split,
                   {.rows = split.outputs,
                    .labels = labels,
                    .classes = kMostProbabilities + 1,
                    .logits = false},
                   {}) == "sample,name,label,predicted,probability,loss\n0,x,3,3,1,2\n");
}

TEST_CASE("a row of numbers has targets and outputs, which are probabilities if they were logits") {
  PredictedSplit split{.names = {"x", "y"},
                       .outputs = {0.5F, -2, 0, 1},
                       .losses = {0.25F, 4},
                       .numbers = {1, -2, 0, 3}};
  CHECK(predictions_csv(split) ==
        "sample,name,loss,target_1,target_2,output_1,output_2\n"
        "0,x,0.25,1,-2,0.5,-2\n"
        "1,y,4,0,3,0,1\n");
  split.outputs = {0, 0, 0, 0};
  split.logits = true;
  CHECK(predictions_csv(split).find("0,x,0.25,1,-2,0.5,0.5\n") != std::string::npos);
  split.outputs = {0, 0, 1, 1};
  split.softmax = true;
  CHECK(predictions_csv(split).find("1,y,4,0,3,0.5,0.5\n") != std::string::npos);
}

TEST_CASE("outputs that are compared with the number of a class have it as their target") {
  const PredictedSplit split{.names = {"x"}, .outputs = {2.5F}, .losses = {0.25F}, .labels = {2}};
  CHECK(predictions_csv(split) == "sample,name,loss,label,output_1\n0,x,0.25,2,2.5\n");
}
