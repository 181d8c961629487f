#include "sample.h"

#include <array>

namespace sample {
namespace {

std::unique_ptr<Member> made(const char* kind) {
  auto member = std::make_unique<Member>();
  member->kind = kind;
  return member;
}

std::unique_ptr<Member> read_sgd(Fields& fields) {
  auto member = made("sgd");
  double momentum = 0;
  bool nesterov = false;
  fields.required("lr", member->value, "learning rate", {.minimum = 0, .exclusive_minimum = true});
  fields.field("momentum", momentum, "share of the last step", {.minimum = 0, .maximum = 1});
  fields.field("nesterov", nesterov, "look ahead");
  if (nesterov && momentum == 0) fields.error("nesterov", "'nesterov' needs a momentum above 0");
  return member;
}

std::unique_ptr<Member> read_adam(Fields& fields) {
  auto member = made("adam");
  member->value = 1e-3;
  double beta1 = 0.9;
  fields.field("lr", member->value, "learning rate", {.minimum = 0, .exclusive_minimum = true});
  fields.field("beta1", beta1, "decay of the mean", {.minimum = 0, .maximum = 1});
  return member;
}

std::unique_ptr<Member> read_constant(Fields&) { return made("constant"); }

std::unique_ptr<Member> read_poly(Fields& fields) {
  auto member = made("poly");
  member->value = 1;
  fields.field("power", member->value, "exponent", {.minimum = 0});
  return member;
}

std::unique_ptr<Member> read_piecewise(Fields& fields) {
  auto member = made("piecewise");
  bool by_step = false;
  fields.rest("table", member->table, "rows [t, rate]", {.minimum = 0});
  fields.field("by_step", by_step, "t counts steps");
  return member;
}

std::unique_ptr<Member> read_hflip(Fields& fields) {
  auto member = made("hflip");
  member->value = 0.5;
  fields.field("probability", member->value, "chance of a flip", {.minimum = 0, .maximum = 1});
  return member;
}

std::unique_ptr<Member> read_shift(Fields& fields) {
  auto member = made("shift");
  Fill fill = Fill::nearest;
  fields.required("x", member->value, "share of the width", {.minimum = 0, .maximum = 1});
  fields.field("fill", fill, "what comes in");
  return member;
}

std::unique_ptr<Member> read_pad_crop(Fields& fields) {
  auto member = made("pad_crop");
  std::int64_t pixels = 4;
  fields.field("pixels", pixels, "on each side", {.minimum = 1});
  return member;
}

std::unique_ptr<Member> read_cifar10(Fields& fields) {
  auto member = made("cifar10");
  std::string split = "train";
  fields.field("split", split, "train or test");
  return member;
}

std::unique_ptr<Member> read_images(Fields& fields) {
  auto member = made("images");
  std::string path;
  Pair size{32, 32};
  fields.required("path", path, "folder with a folder a class");
  fields.field("size", size, "size of the images", {.minimum = 1});
  return member;
}

}  // namespace

std::span<const Kind<Member>> optimizers() {
  static constexpr std::array<Kind<Member>, 2> kKinds = {
      {{"sgd", "stochastic gradient descent", read_sgd}, {"adam", "Adam", read_adam}}};
  return kKinds;
}

std::span<const Kind<Member>> schedules() {
  static constexpr std::array<Kind<Member>, 3> kKinds = {
      {{"constant", "the same rate", read_constant},
       {"poly", "polynomial", read_poly},
       {"piecewise", "a table", read_piecewise}}};
  return kKinds;
}

std::span<const Kind<Member>> augments() {
  static constexpr std::array<Kind<Member>, 3> kKinds = {{{"hflip", "mirror", read_hflip},
                                                          {"shift", "move", read_shift},
                                                          {"pad_crop", "crop", read_pad_crop}}};
  return kKinds;
}

std::span<const Kind<Member>> sources() {
  static constexpr std::array<Kind<Member>, 2> kKinds = {
      {{"cifar10", "binary folders", read_cifar10}, {"images", "image folders", read_images}}};
  return kKinds;
}

void declare(Fields& fields, Window& window) {
  static constexpr std::array<std::string_view, 2> kPads = {"valid", "same_upper"};
  fields.required("size", window.size, "size of the window", {.minimum = 1});
  fields.field("stride", window.stride, "step of the window", {.minimum = 1});
  fields.word_or_pair("pad", window.pad, window.margin, kPads, "around the input", {.minimum = 0});
  fields.field("fill", window.fill, "value outside the image");
}

void declare(Fields& fields, Data& data) {
  fields.select("source", data.source, "where the images come from", sources());
  fields.field("shuffle", data.shuffle, "a new order every epoch");
}

void declare(Fields& fields, Batch& batch) {
  if (!fields.keys_only("{per_gpu: 64}")) return;
  fields.field("per_gpu", batch.per_gpu, "samples a device", {.minimum = 1});
  fields.field("total", batch.total, "samples of all devices", {.minimum = 1});
  if (batch.per_gpu && batch.total)
    fields.error("total", "'total' and 'per_gpu' exclude each other");
}

void declare(Fields& fields, Run& run) {
  fields.required("name", run.name, "name of the run");
  fields.field("epochs", run.epochs, "passes over the data", {.minimum = 1, .maximum = 10000});
  fields.field("smoothing", run.smoothing, "smoothing of the labels", {.minimum = 0, .maximum = 1});
  fields.field("deterministic", run.deterministic, "the same bits again");
  fields.field("sizes", run.sizes, "sizes of the input", {.minimum = 1});
  fields.field("means", run.means, "a channel");
  fields.field("metrics", run.metrics, "to report");
  fields.field("clip", run.clip, "largest norm of the gradient", {.minimum = 0});
  fields.field("vars", run.vars, "free values");
  fields.field("window", run.window, "a window");
  fields.field("train", run.train, "training data");
  fields.field("batch", run.batch, "samples a step");
  fields.required_one_of("optimizer", run.optimizer, "how weights move", optimizers());
  fields.one_of("schedule", run.schedule, "how the rate moves", schedules());
  fields.list_of("augment", run.augment, "in this order", augments());
}

}  // namespace sample
