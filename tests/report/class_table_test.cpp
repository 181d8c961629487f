// Tables of predictions per class.
#include "report/class_table.h"

#include <doctest/doctest.h>

#include <cmath>

#include "report/class_scores.h"

using namespace trainyard;

namespace {

const std::vector<std::int32_t> kLabels{0, 0, 1, 1, 1};
// Predicted: 0, 2, 1, 0 (the first of two equal outputs), none.
const std::vector<float> kRows{3, 1,   2,  //
                               1, 1,   2,  //
                               1, 2,   0,  //
                               5, 5,   1,  //
                               0, NAN, 9};

ConfusionMatrix sample() {
  return ConfusionMatrix({.rows = kRows, .labels = kLabels, .classes = 3});
}

}  // namespace

TEST_CASE("a confusion matrix counts labels by predicted class, and NaN outputs apart") {
  const ConfusionMatrix matrix = sample();
  CHECK(matrix.count(0, 0) == 1);
  CHECK(matrix.count(0, 2) == 1);
  CHECK(matrix.count(1, 1) == 1);
  CHECK(matrix.count(1, 0) == 1);
  CHECK(matrix.count(1, 3) == 1);
  CHECK(matrix.count(2, 2) == 0);
}

TEST_CASE(
    "confusion.csv has a row per label and a column per prediction, with the classes' names") {
  const std::vector<std::string> names{"cat", "dog, small", "\"owl\""};
  CHECK(confusion_csv(sample(), names) ==
        "label,cat,\"dog, small\",\"\"\"owl\"\"\",none\n"
        "cat,1,0,1,0\n"
        "\"dog, small\",1,1,0,1\n"
        "\"\"\"owl\"\"\",0,0,0,0\n");
}

TEST_CASE(
    "classes.csv leaves a ratio without a denominator empty; classes without a name have a "
    "number") {
  const std::vector<float> rows{3, 1, 2, 1, 1, 2, 1, 2, 0, 5, 5, 1, 0, 1, 9};
  const SplitOutputs outputs{.rows = rows, .labels = kLabels, .classes = 3};
  CHECK(classes_csv(class_rows(outputs, ConfusionMatrix(outputs)), {}) ==
        "class,name,samples,predicted,right,precision,recall,f1,auc\n"
        "0,0,2,2,1,0.5,0.5,0.5,0.6666666666666666\n"
        "1,1,3,1,1,1,0.3333333333333333,0.5,0.6666666666666666\n"
        "2,2,0,2,0,0,,0,\n");
}

TEST_CASE("the table of classes has aligned columns, and a dash without a denominator") {
  const std::vector<float> rows{3, 1, 2, 1, 1, 2, 1, 2, 0, 5, 5, 1, 0, 1, 9};
  const SplitOutputs outputs{.rows = rows, .labels = kLabels, .classes = 3};
  const std::vector<std::string> names{"cat", "long name"};
  CHECK(classes_text(class_rows(outputs, ConfusionMatrix(outputs)), names) ==
        "class       samples  precision  recall      f1     auc\n"
        "cat               2     0.5000  0.5000  0.5000  0.6667\n"
        "long name         3     1.0000  0.3333  0.5000  0.6667\n"
        "2                 0     0.0000       -  0.0000       -\n");
}

TEST_CASE("the area under the curve is the share of pairs in the right order, ties half") {
  const std::vector<float> rows{0.1f, 0.4f, 0.35f, 0.8f, 0.4f};
  const std::vector<std::int32_t> labels{0, 0, 1, 1, 1};
  const SplitOutputs outputs{.rows = rows, .labels = labels};
  CHECK(area_under_curve(outputs, 1) == 4.5 / 6);
  CHECK(area_under_curve(outputs, 0) == 4.5 / 6);
  const std::vector<std::int32_t> one_sided{1, 1, 1, 1, -1};
  CHECK_FALSE(area_under_curve({.rows = rows, .labels = one_sided}, 1).has_value());
  const std::vector<float> nan{0.1f, NAN, 0.35f, 0.8f, 0.4f};
  CHECK_FALSE(area_under_curve({.rows = nan, .labels = labels}, 1).has_value());
}

TEST_CASE("a class's score is its probability, which its logit alone does not order") {
  const std::vector<float> rows{5, 9, 1, 0};  // logit 5 beside 9, logit 1 beside 0
  const std::vector<std::int32_t> labels{1, 0};
  CHECK(area_under_curve({.rows = rows, .labels = labels}, 0) == 1);
  CHECK(area_under_curve({.rows = rows, .labels = labels, .logits = false}, 0) == 0);
}

TEST_CASE("one area for all classes is that of class 1, or the mean of those that are defined") {
  const std::vector<float> single{0.1f, 0.4f, 0.35f, 0.8f, 0.4f};
  const std::vector<std::int32_t> labels{0, 0, 1, 1, 1};
  CHECK(mean_area_under_curve({.rows = single, .labels = labels}) == 4.5 / 6);
  const std::vector<float> pairs{0.9f, 0.1f, 0.6f, 0.4f, 0.65f, 0.35f, 0.2f, 0.8f, 0.6f, 0.4f};
  CHECK(mean_area_under_curve({.rows = pairs, .labels = labels, .logits = false}) == 4.5 / 6);
  // In the right order are 5, 6.5 and 3.5 of the 8 pairs of the classes 0, 1 and 2.
  const std::vector<float> rows{0.5f, 0.3f, 0.2f, 0.1f, 0.6f, 0.3f, 0.4f, 0.2f, 0.4f,
                                0.3f, 0.4f, 0.3f, 0.2f, 0.3f, 0.5f, 0.6f, 0.2f, 0.2f};
  const std::vector<std::int32_t> three{0, 1, 2, 0, 1, 2};
  const SplitOutputs outputs{.rows = rows, .labels = three, .classes = 3, .logits = false};
  CHECK(mean_area_under_curve(outputs) == 15.0 / 24);
  const std::vector<std::int32_t> two{0, 1, 0, 0, 1, -1};
  const SplitOutputs lacking{.rows = rows, .labels = two, .classes = 3, .logits = false};
  CHECK_FALSE(area_under_curve(lacking, 2).has_value());
  CHECK(mean_area_under_curve(lacking) ==
        (*area_under_curve(lacking, 0) + *area_under_curve(lacking, 1)) / 2);
  const std::vector<std::int32_t> none(6, -1);
  CHECK_FALSE(mean_area_under_curve({.rows = rows, .labels = none, .classes = 3}).has_value());
}

TEST_CASE("a single output predicts class 1 above the threshold") {
  const std::vector<float> rows{0.25f, 0.75f};
  const std::vector<std::int32_t> labels{1, 1};
  const ConfusionMatrix matrix({.rows = rows, .labels = labels, .threshold = 0.5});
  CHECK(matrix.count(1, 0) == 1);
  CHECK(matrix.count(1, 1) == 1);
}
