// --gpus: every form, and every message.
#include "backend/gpus.h"

#include <doctest/doctest.h>

#include "base/error.h"

namespace trainyard {
namespace {

using Kind = GpuRequest::Kind;

/// A machine of `count` GPUs, idle, with 80 GiB each.
GpuSurvey machine(int count) {
  GpuSurvey survey{.driver = "580.95.05", .driver_cuda = 13000, .runtime_cuda = 13000};
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    survey.gpus.push_back({.ordinal = ordinal,
                           .name = "NVIDIA X",
                           .major = 9,
                           .total_bytes = std::size_t{80} << 30,
                           .free_bytes = std::size_t{80} << 30,
                           .busy_percent = 0});
  }
  return survey;
}

std::vector<int> chosen(const std::string& text, const GpuSurvey& survey) {
  std::vector<int> ordinals;
  for (const GpuFinding& gpu : choose_gpus(parse_gpus(text), survey)) {
    ordinals.push_back(gpu.ordinal);
  }
  return ordinals;
}

struct Refusal {
  int code = 0;
  std::string text;
};

template <class F>
Refusal refusal(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return {error.exit_code(), error.what()};
  }
  return {};
}

Refusal refused(const std::string& text, const GpuSurvey& survey) {
  return refusal([&] { static_cast<void>(chosen(text, survey)); });
}

using List = std::vector<int>;

TEST_CASE("every form of --gpus selects its GPUs") {
  const GpuSurvey four = machine(4);
  CHECK(chosen("0", four) == List{});
  CHECK(chosen("2", four) == List{0, 1});
  CHECK(chosen("4", four) == List{0, 1, 2, 3});
  CHECK(chosen("0,2,3", four) == List{0, 2, 3});
  CHECK(chosen("3,1", four) == List{3, 1});
  CHECK(chosen("id:2", four) == List{2});
  CHECK(chosen("id:0", four) == List{0});
  CHECK(chosen("all", four) == List{0, 1, 2, 3});
  CHECK(chosen("", four) == List{0});
}

TEST_CASE("auto takes the GPUs with the least work, then those with the most free memory") {
  GpuSurvey survey = machine(4);
  survey.gpus[0].busy_percent = 90;
  survey.gpus[1].free_bytes = std::size_t{10} << 30;
  CHECK(chosen("auto:1", survey) == List{2});
  CHECK(chosen("auto:3", survey) == List{2, 3, 1});
  CHECK(chosen("auto:4", survey) == List{2, 3, 1, 0});
}

TEST_CASE("0 is the CPU on any machine, with and without a driver") {
  CHECK(chosen("0", GpuSurvey{}) == List{});
  CHECK(parse_gpus("0").kind == Kind::none);
  CHECK(parse_gpus("").kind == Kind::unsaid);
}

TEST_CASE("text of no known form is a command line error that lists the forms") {
  for (const char* text :
       {"x",    "-1",   "+2",     "1.5",   "1,",  ",1",  "1,,2", "0,0", "id:", "id:1,2",
        "id:x", "auto", "auto:0", "auto:", "All", "00x", "2000", " 2",  "0x1", "id:-1"}) {
    CAPTURE(text);
    const Refusal found = refusal([&] { static_cast<void>(parse_gpus(text)); });
    CHECK(found.code == 2);
    CHECK(found.text == "--gpus '" + std::string(text) +
                            "' is none of: N (the first N), 0,2,3 (those), id:2 (one), all, "
                            "auto:N (the N idlest), 0 (the CPU)");
  }
}

TEST_CASE("asking for too many GPUs is a device error that names the count") {
  const Refusal found = refused("4", machine(1));
  CHECK(found.code == 8);
  CHECK(found.text == "--gpus 4: 1 GPU was found; ask for at most 1, or use --gpus 0 for the CPU");
  CHECK(refused("auto:3", machine(2)).text ==
        "--gpus auto:3: 2 GPUs were found; ask for at most 2, or use --gpus 0 for the CPU");
  CHECK(refused("0,2", machine(2)).text ==
        "--gpus 0,2: 2 GPUs were found, counted from 0: there is no GPU 2; choose others, or use "
        "--gpus 0 for the CPU");
  CHECK(refused("id:1", machine(1)).code == 8);
}

TEST_CASE("the reason that no GPU can be used is reported") {
  GpuSurvey survey = machine(0);
  survey.driver_cuda = 0;
  survey.problem = "CUDA driver version is insufficient for CUDA runtime version";
  CHECK(refused("1", survey).code == 8);
  CHECK(refused("1", survey).text ==
        "--gpus 1: no NVIDIA driver was found (libcuda.so.1 cannot be opened); install the driver, "
        "or use --gpus 0 for the CPU");
  survey.driver_cuda = 12040;
  CHECK(refused("all", survey).text ==
        "--gpus all: the NVIDIA driver is too old: it supports CUDA 12.4, this program needs CUDA "
        "13.0; install a newer driver, or a package with a GPU part for this driver's CUDA, or use "
        "--gpus 0 for the CPU");
  survey.driver_cuda = 13020;
  survey.problem = "no CUDA-capable device is detected";
  CHECK(refused("1", survey).text ==
        "--gpus 1: the GPUs cannot be used: no CUDA-capable device is detected; check that "
        "nvidia-smi lists them and that CUDA_VISIBLE_DEVICES names them, or use --gpus 0 for the "
        "CPU");
  survey.problem.clear();
  CHECK(
      refused("1", survey).text ==
      "--gpus 1: 0 GPUs were found; check that CUDA_VISIBLE_DEVICES names one, or use --gpus 0 for "
      "the CPU");
}

TEST_CASE("a GPU that is too old is reported by name, and skipped if the choice is open") {
  GpuSurvey survey = machine(3);
  survey.gpus[0] = {.ordinal = 0, .name = "Tesla T4", .major = 7, .minor = 5};
  const std::string old =
      "cuda:0 (Tesla T4) has compute capability 7.5, expected 8.0 or newer (A100, RTX 30 or later)";
  for (const char* text : {"1", "2", "0,1", "id:0", "all"}) {
    CAPTURE(text);
    CHECK(refused(text, survey).code == 8);
    CHECK(refused(text, survey).text == "--gpus " + std::string(text) + ": " + old +
                                            "; name others, or use --gpus 0 for the CPU");
  }
  CHECK(chosen("", survey) == List{1});
  CHECK(chosen("auto:2", survey) == List{1, 2});
  CHECK(chosen("1,2", survey) == List{1, 2});
  CHECK(refused("auto:3", survey).text.starts_with("--gpus auto:3: 2 GPUs were found"));
  CHECK(survey_problem(survey) == "");
  survey.gpus.resize(1);
  CHECK(survey_problem(survey) == "no GPU can be used: " + old);
  CHECK(refused("1", survey).text ==
        "--gpus 1: no GPU can be used: " + old + ", or use --gpus 0 for the CPU");
}

TEST_CASE("a library that is missing is named with the folders searched and the remedy") {
  const UsableGpus usable{
      .libraries = {{.name = "cuDNN",
                     .file = "libcudnn.so.9",
                     .problem = "libcudnn.so.9 was not found"},
                    {.name = "NCCL", .file = "libnccl.so.2", .version = "2.28.9"}},
      .asked = "1",
      .folders = {"", "/usr/local/cuda/lib64"}};
  const Refusal found = refusal([&] { require_libraries(usable); });
  CHECK(found.code == 8);
  CHECK(found.text ==
        "--gpus 1: cuDNN: libcudnn.so.9 was not found; looked in the loader's search path, "
        "/usr/local/cuda/lib64; install it, or set TRAINYARD_CUDA_PATH to its folder, or use "
        "--gpus 0 for the CPU");
}

TEST_CASE("only ranks that join their GPUs need NCCL, even with one GPU each") {
  // As for a rank of torchrun, or of --hosts --gpus 1: one GPU in this process.
  const UsableGpus usable{.gpus = machine(1).gpus,
                          .libraries = {{.name = "NCCL",
                                         .problem = "libnccl.so.2 was not found",
                                         .several_gpus = true}},
                          .asked = "1",
                          .folders = {"/opt/nccl"}};
  CHECK(refusal([&] { require_libraries(usable); }).code == 0);
  const Refusal joining = refusal([&] { require_joining_libraries(usable); });
  CHECK(joining.code == 8);
  CHECK(joining.text ==
        "--gpus 1: NCCL: libnccl.so.2 was not found; looked in /opt/nccl; install it, or set "
        "TRAINYARD_CUDA_PATH to its folder, or use --gpus 0 for the CPU");
}

TEST_CASE("a GPU that no process may use is refused if selected, and ignored otherwise") {
  GpuSurvey two = machine(2);
  two.gpus[1].bus = "0000:65:00.0";
  two.gpus[1].compute_mode = ComputeMode::prohibited;
  CHECK(chosen("1", two) == List{0});
  const Refusal found = refused("2", two);
  CHECK(found.code == 8);
  CHECK(found.text ==
        "--gpus 2: cuda:1 (NVIDIA X) is in prohibited mode: no process may use it; reset the mode "
        "(nvidia-smi -i 0000:65:00.0 -c DEFAULT); name others, or use --gpus 0 for the CPU");
  two.gpus[0].busy_percent = 90;
  CHECK(chosen("auto:1", two) == List{0});
  std::swap(two.gpus[0].compute_mode, two.gpus[1].compute_mode);
  CHECK(chosen("", two) == List{1});
  two.gpus[1].compute_mode = ComputeMode::prohibited;
  CHECK(survey_problem(two) ==
        "no GPU can be used: cuda:0 (NVIDIA X) is in prohibited mode: no process may use it; reset "
        "the mode (nvidia-smi -i " +
            two.gpus[0].bus + " -c DEFAULT)");
}

TEST_CASE("ranks share a GPU in exclusive mode only through MPS, which is named") {
  UsableGpus usable{.gpus = machine(1).gpus, .asked = "1", .share = {.ranks = 4, .gpus = 1}};
  usable.gpus[0].bus = "0000:17:00.0";
  CHECK(refusal([&] { require_shareable(usable); }).code == 0);
  usable.gpus[0].compute_mode = ComputeMode::exclusive;
  const Refusal found = refusal([&] { require_shareable(usable); });
  CHECK(found.code == 8);
  CHECK(found.text ==
        "--gpus 1: cuda:0 (NVIDIA X) is in exclusive mode, for only one process, and 4 ranks are "
        "to share it; start NVIDIA's MPS (nvidia-cuda-mps-control -d), reset the mode (nvidia-smi "
        "-i 0000:17:00.0 -c DEFAULT), or start no more ranks than GPUs");
  usable.mps = true;
  CHECK(refusal([&] { require_shareable(usable); }).code == 0);
  usable.mps = false;
  usable.share = {.ranks = 1, .gpus = 1};
  CHECK(refusal([&] { require_shareable(usable); }).code == 0);
}

TEST_CASE("GPUs are peers if each reads the memory of all others") {
  std::vector<GpuFinding> gpus = machine(3).gpus;
  CHECK_FALSE(are_peers(gpus));
  gpus[0].peers = {1, 2};
  gpus[1].peers = {0, 2};
  gpus[2].peers = {0};
  CHECK_FALSE(are_peers(gpus));
  gpus[2].peers = {0, 1};
  CHECK(are_peers(gpus));
  CHECK(are_peers(std::span(gpus).first(1)));
}

TEST_CASE("more ranks than GPUs share them, and the numbers are reported") {
  CHECK(share_text({.ranks = 4, .gpus = 1}) == "1 GPU shared by 4 ranks");
  CHECK(share_text({.ranks = 5, .gpus = 2}) == "2 GPUs shared by 5 ranks");
  CHECK(share_text({.ranks = 2, .gpus = 2}) == "");
  CHECK(share_text({}) == "");
}

TEST_CASE("an optional library is not required") {
  const UsableGpus usable{
      .libraries = {{.name = "NVRTC", .problem = "not found", .without = "some engines"}}};
  CHECK(refusal([&] { require_libraries(usable); }).code == 0);
}

TEST_CASE("without a GPU part a request is refused, and no request means the CPU") {
  const GpuSearchPaths nowhere{.plugin = "/nowhere/lib/trainyard/libtrainyard_cuda.so",
                               .folders = {}};
  const Refusal found = refusal([&] { static_cast<void>(open_gpus(parse_gpus("1"), nowhere)); });
  CHECK(found.code == 8);
  CHECK(found.text ==
        "--gpus 1: the GPU part of train is not there "
        "(/nowhere/lib/trainyard/libtrainyard_cuda.so); build it where the CUDA toolkit is "
        "installed (cmake --preset cuda), or unpack the whole package, or use --gpus 0 for the "
        "CPU");
  CHECK(open_gpus(parse_gpus(""), nowhere).gpus.empty());
  CHECK(open_gpus(parse_gpus("0"), nowhere).gpus.empty());
}

}  // namespace
}  // namespace trainyard
