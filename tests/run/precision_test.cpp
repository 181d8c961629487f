// `precision:`: what each device supports, and its errors for the rest.
#include <doctest/doctest.h>

#include <string>

#include "base/error.h"
#include "base/host.h"
#include "compute/devices/cpu_executors.h"
#include "config/schema.h"
#include "run/config/run_config.h"
#include "run/session/session_device.h"
#include "run_text.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

RunConfig read_precise(const std::vector<std::string>& overrides) {
  return read_run(kTinyRun, overrides);
}

Target target_of(DeviceChoice::Kind kind, const std::vector<std::string>& overrides) {
  return make_device({.kind = kind, .threads = 1}, read_precise(overrides)).target;
}

std::string refusal(DeviceChoice::Kind kind, const std::string& precision,
                    const Processor& processor = {}) {
  const RunConfig run = read_precise({"precision=" + precision});
  try {
    require_precision(kind, *run.precision, run.settled.find("precision")->where, processor);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::device);
    return error.what();
  }
  return "";
}

constexpr auto kCpu = DeviceChoice::Kind::cpu;
constexpr auto kReference = DeviceChoice::Kind::reference;
constexpr auto kGpu = DeviceChoice::Kind::gpu;

}  // namespace

TEST_CASE("a CPU computes in fp32, in bf16 where the processor does, and refuses the others") {
  const Processor old{.bf16 = false, .name = "AMD EPYC 7R13"}, recent{.bf16 = true};
  CHECK(target_of(kCpu, {}).storage == DType::f32);
  CHECK(refusal(kCpu, "fp32") == "");
  CHECK(refusal(kCpu, "bf16", recent) == "");
  CHECK(refusal(kCpu, "bf16", old) ==
        "--set precision:1:1: 'precision: bf16' needs a processor with AVX512-BF16, which "
        "this one (AMD EPYC 7R13) lacks, a GPU or --device reference; set 'precision: fp32'");
  CHECK(refusal(kCpu, "bf16") ==
        "--set precision:1:1: 'precision: bf16' needs a processor with AVX512-BF16, which "
        "this one lacks, a GPU or --device reference; set 'precision: fp32'");
  CHECK(refusal(kCpu, "fp16", old) ==
        "--set precision:1:1: 'precision: fp16' needs a GPU or --device reference; the CPU "
        "computes in fp32: set 'precision: fp32'");
  CHECK(refusal(kCpu, "fp16", recent) ==
        "--set precision:1:1: 'precision: fp16' needs a GPU or --device reference; the CPU "
        "computes in fp32 and bf16");
  CHECK(refusal(kCpu, "tf32", old) ==
        "--set precision:1:1: 'precision: tf32' needs a GPU; the CPU computes in fp32: set "
        "'precision: fp32'");
  CHECK(refusal(kCpu, "fp64", old) ==
        "--set precision:1:1: 'precision: fp64' needs --device reference; the CPU computes in "
        "fp32: set 'precision: fp32'");
}

TEST_CASE("the device of a run with bf16 on a CPU stores bf16, or is refused where it is written") {
  std::string found;
  try {
    CHECK(target_of(kCpu, {"precision=bf16"}).storage == DType::bf16);
  } catch (const Error& error) {
    found = error.what();
  }
  const Processor own{.bf16 = cpu_executors_have_bf16(), .name = processor_name()};
  CHECK(found == refusal(kCpu, "bf16", own));
}

TEST_CASE("a settled precision keeps the position at which it was written") {
  RunConfig run = read_precise({"precision=bf16"});
  settle_precision(run, Precision::bf16);
  CHECK(run.settled.find("precision")->where.text() == "--set precision:1:1");
}

TEST_CASE("the reference device computes in double by default, and has no tf32") {
  CHECK(target_of(kReference, {}).storage == DType::f64);
  CHECK(target_of(kReference, {"precision=fp32"}).storage == DType::f32);
  CHECK(target_of(kReference, {"precision=bf16"}).storage == DType::bf16);
  CHECK(target_of(kReference, {"precision=fp16"}).storage == DType::f16);
  CHECK(refusal(kReference, "tf32") ==
        "--set precision:1:1: 'precision: tf32' needs a GPU; the reference device computes in "
        "fp64, fp32, bf16 and fp16");
}

TEST_CASE("a GPU has no fp64") {
  CHECK(refusal(kGpu, "fp64") ==
        "--set precision:1:1: 'precision: fp64' needs --device reference; a GPU computes in fp32, "
        "tf32, bf16 and fp16");
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
