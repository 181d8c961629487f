#include "bench/suite.h"

#include <algorithm>

#include "base/plural.h"

namespace trainyard {
namespace {

constexpr const char *kMxnet = "Keras-MXNet", *kTensorflow = "Keras-TensorFlow";

std::string hardware_with(int gpus) {
  switch (gpus) {
    case 0:
      return "c5.18xlarge (36 cores)";
    case 8:
      return "p3.16xlarge (8 V100)";
    default:
      return "p3.8xlarge (" + std::to_string(gpus) + " V100)";
  }
}

/// A line of a published table.
struct PublishedLine {
  int gpus = 0;  // 0: the CPU
  double mxnet = 0, tensorflow = 0;
};

void add_rates(SuiteRow& row, const PublishedLine& line, std::int64_t batch, double mxnet,
               double tensorflow) {
  const SuitePlace place{.ranks = std::max(line.gpus, 1), .gpus = line.gpus > 0};
  for (const auto& [by, rate] : {std::pair(kMxnet, mxnet), std::pair(kTensorflow, tensorflow)}) {
    row.published.push_back({.by = by,
                             .hardware = hardware_with(line.gpus),
                             .place = place,
                             .batch = batch,
                             .samples_per_second = rate});
  }
}

/// Images per second, 32 on each device.
SuiteRow images(const std::string& name, const std::string& config,
                const std::vector<PublishedLine>& lines) {
  SuiteRow row{.name = name, .config = config};
  for (const PublishedLine& line : lines) {
    add_rates(row, line, 32 * std::max(line.gpus, 1), line.mxnet, line.tensorflow);
  }
  return row;
}

/// Seconds for an epoch of `epoch` sequences, 128 a step on all devices together.
SuiteRow sequences(const std::string& name, const std::string& config, double epoch,
                   const std::vector<PublishedLine>& lines) {
  SuiteRow row{.name = name, .config = config};
  for (const PublishedLine& line : lines) {
    add_rates(row, line, 128, epoch / line.mxnet, epoch / line.tensorflow);
  }
  return row;
}

/// The benchmark module of Keras-MXNet: its README and benchmark_result/RNN_result.md. Its
/// ResNet-50 of CIFAR-10 and ImageNet is the ResNet-56 that its script builds. The number of
/// WikiText-2's sequences follows from its seconds an epoch and microseconds a sequence.
Suite keras_mxnet() {
  Suite suite{.name = "keras-mxnet",
              .published = "Keras 2.1.6 on MXNet 1.2 and TensorFlow 1.8, CUDA 9.0, cuDNN 7.0.5",
              .source = "https://github.com/awslabs/keras-apache-mxnet/tree/master/benchmark"};
  suite.rows = {
      images("ResNet-50, synthetic 256x256", "resnet50_synthetic",
             {{0, 13, 4}, {1, 194, 184}, {4, 764, 393}, {8, 1068, 261}}),
      images("ResNet-56, CIFAR-10", "resnet56v1_cifar10",
             {{0, 87, 59}, {1, 831, 509}, {4, 1783, 699}, {8, 1680, 435}}),
      images("ResNet-56, ImageNet's size", "resnet56_256_synthetic",
             {{1, 135, 52}, {4, 536, 162}, {8, 722, 211}}),
      sequences("LSTM, synthetic", "lstm_synthetic", 50'000,
                {{0, 24, 14}, {1, 13, 12}, {4, 12, 21}, {8, 19, 49}}),
      sequences("LSTM, Nietzsche", "lstm_nietzsche", 200'285,
                {{0, 78, 55}, {1, 52, 83}, {4, 47, 117}, {8, 72, 183}}),
      sequences("LSTM, WikiText-2", "lstm_wikitext2", 3'380'000,
                {{0, 1345, 875}, {1, 868, 817}, {4, 775, 1468}, {8, 1214, 3176}}),
  };
  const auto inference = [](const char* by, const char* hardware, double rate) {
    return PublishedRate{
        .by = by, .hardware = hardware, .batch = 32, .samples_per_second = rate, .inference = true};
  };
  for (const PublishedRate& rate :
       {inference(kMxnet, "c5.xlarge (2 cores)", 5.79), inference(kMxnet, "c5.8xlarge", 27.9),
        inference(kTensorflow, "c5.xlarge (2 cores)", 3.27),
        inference(kTensorflow, "c5.8xlarge", 18.2)}) {
    suite.rows.front().published.push_back(rate);
  }
  return suite;
}

}  // namespace

std::string place_text(const SuitePlace& place) {
  if (place.gpus) return count_text(place.ranks, "GPU");
  return place.ranks == 1 ? "CPU" : std::to_string(place.ranks) + " CPU ranks";
}

std::span<const Suite> suites() {
  static const std::vector<Suite> kSuites = {keras_mxnet()};
  return kSuites;
}

}  // namespace trainyard
