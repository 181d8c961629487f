// The report is a function of what was found: every state of a machine as data.
#include "backend/doctor.h"

#include <doctest/doctest.h>

namespace trainyard {
namespace {

Findings cpu_only() {
  return {.version = "train 0.1.0",
          .cores = 2,
          .vectors = "AVX-512",
          .cpu_libraries = "oneDNN 2.6.3",
          .plugin = "/opt/lib/trainyard/libtrainyard_cuda.so",
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
  return findings;
}

TEST_CASE("a machine with all of it is reported line by line, exit 0") {
  CHECK(doctor_exit_code(two_gpus()) == 0);
  CHECK(doctor_text(two_gpus()) ==
        "train 0.1.0\n"
        "CPU       2 cores, AVX-512, oneDNN 2.6.3\n"
        "GPU part  /opt/lib/trainyard/libtrainyard_cuda.so, CUDA 13.0\n"
        "driver    580.95.05, up to CUDA 13.0\n"
        "cuDNN     9.19.0, /c/libcudnn.so.9\n"
        "NCCL      2.28.9, /c/libnccl.so.2\n"
        "cuda:0    NVIDIA H200, compute capability 9.0, 139.0 GiB of 140.0 GiB free, 3 % busy, bus "
        "0000:17:00.0, reads cuda:1 directly\n"
        "cuda:1    NVIDIA H200, compute capability 9.0, 139.0 GiB of 140.0 GiB free, 3 % busy, bus "
        "0000:17:00.0, reads cuda:0 directly\n"
        "all that training on a GPU needs is there\n");
}

TEST_CASE("without a GPU part the report says so, and how to get it, exit 8") {
  CHECK(doctor_exit_code(cpu_only()) == 8);
  CHECK(doctor_text(cpu_only()) ==
        "train 0.1.0\n"
        "CPU       2 cores, AVX-512, oneDNN 2.6.3\n"
        "GPU part  none\n"
        "missing:  the GPU part of train is not there (x); unpack the whole package\n"
        "training on the CPU needs none of these\n");
}

TEST_CASE("driver and library are both reported where both are missing") {
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

TEST_CASE("memory and work that nobody measured are left out") {
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

TEST_CASE("--json holds the same facts") {
  const Json json = doctor_json(two_gpus());
  CHECK(json["cpu"]["libraries"] == "oneDNN 2.6.3");
  CHECK(json["gpu_part"]["cuda"] == "13.0");
  CHECK(json["driver"]["version"] == "580.95.05");
  CHECK(json["libraries"][1]["version"] == "2.28.9");
  CHECK(json["gpus"][1]["compute_capability"] == "9.0");
  CHECK(json["gpus"][1]["peers"] == std::vector<int>{0});
  CHECK(json["missing"].empty());
  const Json without = doctor_json(cpu_only());
  CHECK(without["missing"].size() == 1);
  CHECK(without["gpus"].empty());
  CHECK_FALSE(without.contains("driver"));
}

}  // namespace
}  // namespace trainyard
