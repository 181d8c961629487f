// `precision:`: what each device supports, and its errors for the rest.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "config/schema.h"
#include "run/config/run_config.h"
#include "run/session/session_device.h"

using namespace trainyard;

namespace {

constexpr const char* kPreciseRun = R"(
name: tiny
network: {input: [3, 8, 8], layers: [dense: 4]}
data:
  train: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 16}
  val: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 16, split: test}
batch: {per_gpu: 8}
loss: cross_entropy
optimizer: sgd
epochs: 1
)";

RunConfig read_precise(const std::vector<std::string>& overrides) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("precision-" + std::to_string(getpid()) + ".yaml");
  std::ofstream(path) << kPreciseRun;
  RunConfig run = read_run_config(path, overrides);
  std::filesystem::remove(path);
  return run;
}

Target target_of(DeviceChoice::Kind kind, const std::vector<std::string>& overrides) {
  return make_device({.kind = kind, .threads = 1}, read_precise(overrides)).target;
}

std::string refusal(DeviceChoice::Kind kind, const std::string& precision) {
  try {
    static_cast<void>(target_of(kind, {"precision=" + precision}));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::device);
    return error.what();
  }
  return "";
}

constexpr auto kCpu = DeviceChoice::Kind::cpu;
constexpr auto kReference = DeviceChoice::Kind::reference;

}  // namespace

TEST_CASE("the CPU computes in fp32 and refuses the other precisions") {
  CHECK(target_of(kCpu, {}).storage == DType::f32);
  CHECK(refusal(kCpu, "fp32") == "");
  CHECK(refusal(kCpu, "bf16") ==
        "'precision: bf16' needs a GPU or --device reference; the CPU computes in fp32: set "
        "'precision: fp32'");
  CHECK(refusal(kCpu, "fp16") ==
        "'precision: fp16' needs a GPU or --device reference; the CPU computes in fp32: set "
        "'precision: fp32'");
  CHECK(refusal(kCpu, "tf32") ==
        "'precision: tf32' needs a GPU; the CPU computes in fp32: set 'precision: fp32'");
  CHECK(refusal(kCpu, "fp64") ==
        "'precision: fp64' needs --device reference; the CPU computes in fp32: set 'precision: "
        "fp32'");
}

TEST_CASE("the reference device computes in double by default, and has no tf32") {
  CHECK(target_of(kReference, {}).storage == DType::f64);
  CHECK(target_of(kReference, {"precision=fp32"}).storage == DType::f32);
  CHECK(target_of(kReference, {"precision=bf16"}).storage == DType::bf16);
  CHECK(target_of(kReference, {"precision=fp16"}).storage == DType::f16);
  CHECK(refusal(kReference, "tf32") ==
        "'precision: tf32' needs a GPU; the reference device computes in fp64, fp32, bf16 and "
        "fp16");
}

TEST_CASE("an unknown precision is refused at its position") {
  CHECK_THROWS_WITH_AS(
      static_cast<void>(read_precise({"precision=fp8"})),
      "--set precision:1:1: 'precision' must be one of fp32, tf32, bf16, fp16, fp64, found text "
      "'fp8'",
      Error);
}

TEST_CASE("a settled precision is written to the resolved run and read back") {
  RunConfig run = read_precise({});
  CHECK(run.settled.find("precision") == nullptr);
  settle_precision(run, Precision::bf16);
  settle_precision(run, Precision::fp16);
  REQUIRE(run.settled.find("precision") != nullptr);
  CHECK(run.settled.find("precision")->text == "fp16");
  CHECK(run.precision == Precision::fp16);
  CHECK(
      config::same_value(read_precise({"precision=fp16", "loss_scale=1024"}).settled, run.settled));
}
