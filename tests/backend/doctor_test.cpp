// The report depends only on the findings: every state of a machine as data.
#include "backend/doctor.h"

#include <doctest/doctest.h>

namespace trainyard {
namespace {

Findings cpu_only() {
  return {.version = "train 0.1.0",
          .cores = 2,
          .vectors = "AVX-512",
          .cpu_libraries = "oneDNN 2.6.3",
          .host = {.memory = {.bytes = std::size_t{8} << 30, .bound = "the machine's memory"},
                   .processor_quota = {},
                   .shared_bytes = std::size_t{64} << 20,
                   .locked_bytes = {}},
          .plugin = "/opt/lib/trainyard/libtrainyard_cuda13.so",
          .plugin_problem = "the GPU part of train is not there (x); unpack the whole package"};
}

LibraryFinding library(const std::string& name, const std::string& version,
                       const std::string& path) {
  return {.name = name, .file = "lib" + name + ".so", .path = path, .version = version};
}

GpuFinding gpu(int ordinal, std::vector<int> peers) {
  return {.ordinal = ordinal,
          .name = "NVIDIA H200",
          .major = 9,
          .minor = 0,
          .total_bytes = std::size_t{140} << 30,
          .free_bytes = std::size_t{139} << 30,
          .busy_percent = 3,
          .bus = "0000:17:00.0",
          .peers = std::move(peers)};
}

Findings two_gpus() {
  Findings findings = cpu_only();
  findings.plugin_problem.clear();
  findings.survey = GpuSurvey{.driver = "580.95.05",
                              .driver_cuda = 13000,
                              .runtime_cuda = 13000,
                              .gpus = {gpu(0, {1}), gpu(1, {0})}};
  findings.libraries = {library("cuDNN", "9.19.0", "/c/libcudnn.so.9"),
                        library("NCCL", "2.28.9", "/c/libnccl.so.2")};
  findings.folders = {"", "/c"};
  findings.driver = true;
  return findings;
}

TEST_CASE("a complete machine is reported line by line, exit 0") {
  CHECK(doctor_exit_code(two_gpus()) == 0);
  CHECK(doctor_text(two_gpus()) ==
        "train 0.1.0\n"
        "CPU       2 cores, AVX-512, oneDNN 2.6.3\n"
        "memory    8192 MiB free by the machine's memory, /dev/shm 64 MiB, locked at most all\n"
        "GPU part  /opt/lib/trainyard/libtrainyard_cuda13.so, CUDA 13.0\n"
        "driver    580.95.05, up to CUDA 13.0\n"
        "cuDNN     9.19.0, /c/libcudnn.so.9\n"
        "NCCL      2.28.9, /c/libnccl.so.2\n"
        "cuda:0    NVIDIA H200, compute capability 9.0, 139.0 GiB of 140.0 GiB free, 3 % busy, bus "
        "0000:17:00.0\n"
        "          compute mode default\n"
        "cuda:1    NVIDIA H200, compute capability 9.0, 139.0 GiB of 140.0 GiB free, 3 % busy, bus "
        "0000:17:00.0\n"
        "          compute mode default\n"
        "links     0       1\n"
        "  cuda:0  -       PCIe\n"
        "  cuda:1  PCIe    -\n"
        "everything that training on a GPU needs was found\n");
}

TEST_CASE("without a GPU part the report says so, and how to get it, exit 0 without a driver") {
  CHECK(doctor_exit_code(cpu_only()) == 0);
  Findings with_driver = cpu_only();
  with_driver.driver = true;
  CHECK(doctor_exit_code(with_driver) == 8);
  CHECK(doctor_text(cpu_only()) ==
        "train 0.1.0\n"
        "CPU       2 cores, AVX-512, oneDNN 2.6.3\n"
        "memory    8192 MiB free by the machine's memory, /dev/shm 64 MiB, locked at most all\n"
        "GPU part  none\n"
        "missing:  the GPU part of train is not there (x); unpack the whole package\n"
        "training on the CPU needs none of these\n");
}

TEST_CASE("a missing driver and a missing library are both reported") {
  Findings findings = two_gpus();
  findings.survey = GpuSurvey{.runtime_cuda = 13000, .problem = "insufficient driver"};
  findings.libraries[0].problem = "libcudnn.so.9 was not found";
  CHECK(doctor_exit_code(findings) == 8);
  REQUIRE(missing(findings).size() == 2);
  CHECK(missing(findings)[0] ==
        "no NVIDIA driver was found (libcuda.so.1 cannot be opened); install the driver");
  CHECK(
      missing(findings)[1] ==
      "cuDNN: libcudnn.so.9 was not found; looked in the loader's search path, /c; install it, or "
      "set TRAINYARD_CUDA_PATH to its folder");
  const std::string text = doctor_text(findings);
  for (const char* line : {"driver    none\n", "cuDNN     libcudnn.so.9 was not found\n",
                           "GPUs      none\n", "missing:  no NVIDIA driver"}) {
    CHECK_MESSAGE(text.find(line) != std::string::npos, line);
  }
}

TEST_CASE("an optional library is reported, but does not count as missing") {
  Findings findings = two_gpus();
  findings.libraries.push_back({.name = "NVRTC",
                                .file = "libnvrtc.so.12",
                                .problem = "libnvrtc.so.12 was not found",
                                .without = "engines are left out"});
  CHECK(doctor_exit_code(findings) == 0);
  CHECK(doctor_text(findings).find(
            "NVRTC     libnvrtc.so.12 was not found: engines are left out\n") != std::string::npos);
  CHECK(doctor_json(findings)["libraries"][2]["without"] == "engines are left out");
}

TEST_CASE("unknown memory and load are left out") {
  Findings findings = two_gpus();
  findings.survey->gpus.resize(1);
  findings.survey->gpus[0].free_bytes.reset();
  findings.survey->gpus[0].busy_percent.reset();
  findings.survey->gpus[0].peers.clear();
  findings.survey->driver.clear();
  const std::string text = doctor_text(findings);
  CHECK(text.find("capability 9.0, 140.0 GiB, bus 0000:17:00.0\n") != std::string::npos);
  CHECK(text.find("driver    up to CUDA 13.0\n") != std::string::npos);
  CHECK_FALSE(doctor_json(findings)["gpus"][0].contains("free_bytes"));
}

/// Everything that a driver may report.
GpuCondition condition() {
  return {.mig = false,
          .ecc = true,
          .rows_pending = true,
          .rows_failed = true,
          .fabric = "not started",
          .sm_mhz = 345,
          .most_sm_mhz = 1980,
          .memory_mhz = 3201,
          .power_limit_watts = 700,
          .slowed_by = {"power cap", "heat"}};
}

TEST_CASE("a GPU's settings are printed below it, and problems in notes") {
  Findings findings = two_gpus();
  GpuFinding& first = findings.survey->gpus[0];
  first.numa_node = 1;
  first.nvlinks = {1};
  first.compute_mode = ComputeMode::exclusive;
  first.condition = condition();
  const std::string text = doctor_text(findings);
  for (const char* line :
       {"bus 0000:17:00.0, NUMA node 1\n",
        "          compute mode exclusive, MIG off, ECC on, NVSwitch not started, SM clock "
        "345 of 1980 MHz, memory 3201 MHz, power cap 700 W, slowed by power cap and heat\n",
        "  cuda:0  -       NVLink\n",
        "note:     cuda:0 accepts one program at a time (compute mode exclusive): ranks can share "
        "it only through MPS; nvidia-smi -c DEFAULT allows more\n",
        "note:     cuda:0 has memory rows that wait to be remapped; reset it (nvidia-smi -r) or "
        "restart the machine\n",
        "note:     cuda:0 has memory rows that could not be remapped; have the GPU replaced\n",
        "note:     cuda:0 is connected to other GPUs by NVSwitch, which is not started; check that "
        "nvidia-fabricmanager runs, and its log\n",
        "note:     cuda:0 is slowed down by power cap, heat; check its cooling and power\n"}) {
    CHECK_MESSAGE(text.find(line) != std::string::npos, line);
  }
  CHECK(notes(findings).size() == 5);
  CHECK(doctor_exit_code(findings) == 0);
  const Json json = doctor_json(findings)["gpus"][0];
  CHECK(json["numa_node"] == 1);
  CHECK(json["rows_pending"] == true);
  CHECK(json["rows_failed"] == true);
  CHECK(json["most_sm_mhz"] == 1980);
  CHECK(json["fabric"] == "not started");
  CHECK(json["nvlinks"] == std::vector<int>{1});
}

TEST_CASE("an idle GPU or one at its power cap gives no note") {
  Findings findings = two_gpus();
  findings.survey->gpus[0].condition.slowed_by = {"power cap"};
  findings.survey->gpus[0].condition.fabric = "started";
  CHECK(notes(findings).empty());
}

TEST_CASE("a GPU whose memory another cannot read is reached through the host") {
  Findings findings = two_gpus();
  for (GpuFinding& one : findings.survey->gpus) one.peers.clear();
  CHECK(doctor_text(findings).find("  cuda:0  -       host\n") != std::string::npos);
}

TEST_CASE("--json contains the same facts") {
  const Json json = doctor_json(two_gpus());
  CHECK(json["cpu"]["libraries"] == "oneDNN 2.6.3");
  CHECK(json["gpu_part"]["cuda"] == "13.0");
  CHECK(json["driver"]["version"] == "580.95.05");
  CHECK(json["libraries"][1]["version"] == "2.28.9");
  CHECK(json["gpus"][1]["compute_capability"] == "9.0");
  CHECK(json["gpus"][1]["peers"] == std::vector<int>{0});
  CHECK(json["missing"].empty());
  CHECK(json["host"]["shared_bytes"] == std::size_t{64} << 20);
  CHECK(json["notes"].empty());
  const Json without = doctor_json(cpu_only());
  CHECK(without["missing"].size() == 1);
  CHECK(without["gpus"].empty());
  CHECK_FALSE(without.contains("driver"));
}

}  // namespace
}  // namespace trainyard
