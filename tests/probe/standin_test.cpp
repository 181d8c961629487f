// The probe's measurements on a stand-in of a GPU: what they capture can be captured and replayed,
// and they notice wrong results. Their times mean nothing there.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "device/cuda/check.h"
#include "measurements.h"
#include "runtime/control.h"

using namespace trainyard;
using namespace trainyard::probe;

namespace {

std::vector<Measurement> all_of(Gpu& gpu) {
  std::vector<Measurement> all;
  for (const auto list :
       {clock_measurements, chain_measurements, copy_measurements, finish_measurements,
        overlap_measurements, lane_map_measurements, inner_loop_measurements}) {
    for (Measurement& one : list(gpu)) all.push_back(std::move(one));
  }
  return all;
}

/// The errors by name.
std::map<std::string, std::string> failures(Gpu& gpu) {
  std::map<std::string, std::string> errors;
  for (const Measurement& one : all_of(gpu)) {
    try {
      static_cast<void>(one.measure());
    } catch (const Error& error) {
      errors[one.name] = error.what();
    }
  }
  return errors;
}

Measurement named(Gpu& gpu, const std::string& name) {
  for (Measurement& one : all_of(gpu)) {
    if (one.name == name) return std::move(one);
  }
  throw Error(ErrorKind::bug, name);
}

}  // namespace

TEST_CASE("every measurement can be made") {
  Gpu gpu;
  CHECK(no_gpu() == "");
  for (const auto& [name, error] : failures(gpu)) FAIL_CHECK(name << ": " << error);
  for (const Measurement& one : all_of(gpu)) {
    CAPTURE(one.name);
    CHECK(!one.what.empty());
    CHECK(!one.predicted.empty());
    CHECK(!one.decides.empty());
  }
}

TEST_CASE("wrong results are errors, not times") {
  Gpu gpu;
  launches_do_nothing = true;
  const std::map<std::string, std::string> errors = failures(gpu);
  launches_do_nothing = false;
  CHECK(errors.contains("M3.last_block.16"));
  CHECK(errors.contains("M3.last_of_8.64"));
  CHECK(errors.contains("M6.mma.16.128"));
  CHECK(errors.contains("M6.mma.64.256"));
  CHECK(errors.contains("M11.lanes"));
  CHECK_FALSE(errors.contains("M1.empty.1"));
}

TEST_CASE("what needs capability 9.0 says so on an older GPU, and the rest is measured") {
  const cuda::CurrentDevice current(1);
  Gpu old(1);
  const std::map<std::string, std::string> errors = failures(old);
  for (const auto& [name, error] : errors) {
    CAPTURE(name);
    CHECK(error.find("has compute capability 8.0; this needs 9.0") != std::string::npos);
  }
  CHECK(errors.contains("M1.overlap.early"));
  CHECK(errors.contains("M3.cluster_of_8.16"));
  CHECK(errors.contains("M9.late.80.beside"));
  CHECK_FALSE(errors.contains("M9.full.80.beside"));
  CHECK_FALSE(errors.contains("M3.read_128.64"));
}

TEST_CASE("a call that fails is the measurement's error, and the next one is made") {
  Gpu gpu;
  standin::request_failures("cudaGraphInstantiate:1=cudaErrorInvalidValue");
  const Measurement chain = named(gpu, "M1.empty.1");
  CHECK_THROWS_AS(static_cast<void>(chain.measure()), Error);
  CHECK_NOTHROW(static_cast<void>(chain.measure()));
  standin::request_failures("");
}

TEST_CASE("the placement of blocks is counted by processor") {
  Gpu gpu;
  const Reading reading = named(gpu, "M9.full.37").measure();
  CHECK(reading.more["processors"] == 100);
  CHECK(reading.more["sharing_blocks"] == 56);
  CHECK(reading.more["processors_by_blocks"] == Json::array({72.0, 28.0}));
}
