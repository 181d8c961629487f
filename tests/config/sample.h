// A small run schema with every kind of field, for the tests of config.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/fields.h"

namespace sample {

using trainyard::config::Fields;
using trainyard::config::Kind;
using trainyard::config::Pair;
using trainyard::config::Words;

enum class Fill { constant, nearest, reflect, wrap };
constexpr Words<Fill> words(Fill) { return {"constant", "nearest", "reflect", "wrap"}; }

struct Window {
  Pair size{2, 2};
  Pair stride{1, 1};
  std::optional<std::size_t> pad = 0;  // index of a word; empty: margin
  Pair margin{0, 0};
  Fill fill = Fill::nearest;
};
void declare(Fields& fields, Window& window);

/// A member of any of the families below: its name and one number.
struct Member {
  virtual ~Member() = default;
  [[nodiscard]] const std::string& name() const { return kind; }
  std::string kind;
  double value = 0;
  std::vector<std::vector<double>> table;
};
std::span<const Kind<Member>> optimizers();  // sgd, adam
std::span<const Kind<Member>> schedules();   // constant, poly, piecewise
std::span<const Kind<Member>> augments();    // hflip, shift, pad_crop
std::span<const Kind<Member>> sources();     // cifar10, images

struct Data {
  std::unique_ptr<Member> source;
  bool shuffle = true;
};
void declare(Fields& fields, Data& data);

struct Batch {
  std::optional<std::int64_t> per_gpu;
  std::optional<std::int64_t> total;
};
void declare(Fields& fields, Batch& batch);

struct Run {
  std::string name;
  std::int64_t epochs = 10;
  double smoothing = 0.1;
  bool deterministic = true;
  std::vector<std::int64_t> sizes = {32, 32};
  std::vector<double> means;
  std::vector<std::string> metrics = {"accuracy"};
  std::optional<double> clip;
  trainyard::config::Node vars;
  Window window;
  Data train;
  Batch batch;
  std::unique_ptr<Member> optimizer;
  std::unique_ptr<Member> schedule;
  std::vector<std::unique_ptr<Member>> augment;
};
void declare(Fields& fields, Run& run);

}  // namespace sample
