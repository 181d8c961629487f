// NVML's reports on GPUs, from a function table that simulates it.
#include "device/cuda/nvml.h"

#include <doctest/doctest.h>

#include <cstring>

namespace trainyard::cuda {
namespace {

using nvml::Functions;
using nvml::Gpu;
using nvml::Status;

constexpr Status kNotSupported = 3;
constexpr const char* kBus = "0000:17:00.0";

Status succeed() { return nvml::kSuccess; }

/// Two GPUs, at 17 and 18.
Status find(const char* bus, Gpu** gpu) {
  static char first, second;
  if (std::strcmp(bus, kBus) == 0) {
    *gpu = reinterpret_cast<Gpu*>(&first);
  } else if (std::strcmp(bus, "0000:18:00.0") == 0) {
    *gpu = reinterpret_cast<Gpu*>(&second);
  } else {
    return kNotSupported;
  }
  return nvml::kSuccess;
}

template <unsigned value>
Status number(Gpu*, unsigned* to) {
  *to = value;
  return nvml::kSuccess;
}

template <unsigned value>
Status setting(Gpu*, unsigned* now, unsigned* next) {
  *now = value;
  *next = 1 - value;
  return nvml::kSuccess;
}

/// A busy H200 in a machine with NVSwitch.
Functions h200() {
  return {
      .init = succeed,
      .shutdown = succeed,
      .find = find,
      .driver =
          [](char* text, unsigned) {
            std::strcpy(text, "580.95.05");
            return nvml::kSuccess;
          },
      .memory =
          [](Gpu*, nvml::Memory* memory) {
            *memory = {.total = 1000, .free = 600, .used = 400};
            return nvml::kSuccess;
          },
      .utilization = nullptr,
      .mig = setting<0>,
      .ecc = setting<1>,
      .remapped_rows =
          [](Gpu*, unsigned* corrected, unsigned* uncorrected, unsigned* pending,
             unsigned* failed) {
            *corrected = *uncorrected = *pending = 1;
            *failed = 0;
            return nvml::kSuccess;
          },
      .fabric =
          [](Gpu*, nvml::Fabric* fabric) {
            *fabric = {.cluster = {}, .status = nvml::kSuccess, .clique = 0, .state = 3};
            return nvml::kSuccess;
          },
      .clock =
          [](Gpu*, unsigned which, unsigned* mhz) {
            *mhz = which == 1 ? 1755 : 3201;
            return nvml::kSuccess;
          },
      .most_clock =
          [](Gpu*, unsigned, unsigned* mhz) {
            *mhz = 1980;
            return nvml::kSuccess;
          },
      .slowed_by =
          [](Gpu*, unsigned long long* reasons) {
            *reasons = 0x1 | 0x4 | 0x40;
            return nvml::kSuccess;
          },
      .power_limit = number<700000>,
      .peer =
          [](Gpu* one, Gpu* two, unsigned which, unsigned* status) {
            *status = one != two && which == 2 ? 0 : 5;
            return nvml::kSuccess;
          },
  };
}

TEST_CASE("a GPU's condition is what its driver reports") {
  const Nvml nvml(h200());
  const GpuCondition found = nvml.condition_of(kBus);
  CHECK(found.mig == false);
  CHECK(found.ecc == true);
  CHECK(found.rows_pending == true);
  CHECK(found.rows_failed == false);
  CHECK(found.fabric == "started");
  CHECK(found.sm_mhz == 1755U);
  CHECK(found.most_sm_mhz == 1980U);
  CHECK(found.memory_mhz == 3201U);
  CHECK(found.power_limit_watts == 700.0);
  CHECK(found.slowed_by == std::vector<std::string>{"power cap", "heat (hardware)"});
  CHECK(nvml.driver_version() == "580.95.05");
}

TEST_CASE("memory in use is known without the utilization, which MIG parts do not report") {
  const std::optional<GpuLoad> load = Nvml(h200()).load_of(kBus);
  REQUIRE(load.has_value());
  CHECK(load->free_bytes == 600);
  CHECK_FALSE(load->busy_percent.has_value());
}

TEST_CASE("GPUs are joined by NVLink if the driver says so for the pair") {
  const Nvml nvml(h200());
  CHECK(nvml.joined_by_nvlink(kBus, "0000:18:00.0"));
  CHECK_FALSE(nvml.joined_by_nvlink(kBus, kBus));
  CHECK_FALSE(nvml.joined_by_nvlink(kBus, "0000:99:00.0"));
}

TEST_CASE("what a driver lacks, or answers with an error, is left out") {
  Functions old = {.init = succeed, .shutdown = succeed, .find = find};
  old.ecc = [](Gpu*, unsigned*, unsigned*) { return kNotSupported; };
  old.fabric = [](Gpu*, nvml::Fabric*) { return kNotSupported; };
  const Nvml nvml(old);
  const GpuCondition found = nvml.condition_of(kBus);
  CHECK_FALSE(found.mig.has_value());
  CHECK_FALSE(found.ecc.has_value());
  CHECK_FALSE(found.rows_pending.has_value());
  CHECK_FALSE(found.rows_failed.has_value());
  CHECK(found.fabric.empty());
  CHECK_FALSE(found.sm_mhz.has_value());
  CHECK(found.slowed_by.empty());
  CHECK_FALSE(nvml.joined_by_nvlink(kBus, "0000:18:00.0"));
  CHECK(nvml.driver_version().empty());
  CHECK_FALSE(nvml.load_of(kBus).has_value());
}

TEST_CASE("a driver that cannot be queried reports nothing") {
  Functions broken = h200();
  broken.init = [] { return kNotSupported; };
  const Nvml nvml(broken);
  CHECK_FALSE(nvml.load_of(kBus).has_value());
  CHECK_FALSE(nvml.condition_of(kBus).ecc.has_value());
  CHECK(nvml.driver_version().empty());
}

}  // namespace
}  // namespace trainyard::cuda
