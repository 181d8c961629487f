// Other programs compute what exported networks compute: onnxruntime, and OpenCV for networks of
// convolutions, in a virtual environment: $TRAINYARD_JUDGES, made by scripts/onnx_judges.sh.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/child_process.h"
#include "base/read_file.h"
#include "evaluated.h"
#include "export/onnx_export.h"
#include "export/onnx_fold.h"

namespace trainyard::export_tests {
namespace {

namespace fs = std::filesystem;

std::string judges() {
  const char* folder = std::getenv("TRAINYARD_JUDGES");
  return folder == nullptr ? "" : folder;
}
bool no_judges() { return judges().empty(); }

std::vector<std::int64_t> dims_of(const Shape& shape) {
  std::vector<std::int64_t> dims;
  for (int axis = 0; axis < shape.rank(); ++axis) dims.push_back(shape[axis]);
  return dims;
}

/// NAME.onnx, and NAME.safetensors with an input and what it must give.
void write_case(const fs::path& folder, const TestNetwork& test, bool folded) {
  const Graph graph = network_with_logits(test.network, 2);
  const WeightTable weights = drawn_weights(graph);
  OnnxModel model = onnx_model_of(graph, weights);
  if (folded) fold_batch_norms(model);
  const std::string name = test.name + (folded ? "_folded" : "");
  Disk().replace_file(folder / (name + ".onnx"), encode_onnx(model));
  const Evaluated evaluated = evaluate(test.network, weights, 2);
  const std::vector<std::int64_t> of_input = dims_of(evaluated.input_shape);
  const NamedTensor input = evaluated.tokens.empty()
                                ? NamedTensor{"input", StoredType::f32, of_input,
                                              std::as_bytes(std::span(evaluated.input))}
                                : NamedTensor{"input", StoredType::i64, of_input,
                                              std::as_bytes(std::span(evaluated.tokens))};
  const std::vector<NamedTensor> tensors = {
      input,
      {"logits", StoredType::f32, dims_of(evaluated.logits_shape),
       std::as_bytes(std::span(evaluated.logits))}};
  const SafetensorsImage image = encode_safetensors(
      tensors, {{"closing", graph.closing_activation}, {"opencv", test.images ? "yes" : "no"}});
  Disk().replace_file(folder / (name + ".safetensors"), image.parts());
}

/// Asks the judges about the cases of a folder; their words.
std::string judged(const fs::path& folder, int& code) {
  const Command command{.program = fs::path(judges()) / "bin/python",
                        .arguments = {TY_SOURCE_DIR "/scripts/onnx_judge.py", folder.string()},
                        .environment = {},
                        .folder = folder,
                        .errors = folder / "words.txt",
                        .limit_seconds = 900};
  code = ChildProcess(command).wait().value_or(-1);
  return read_text(folder / "words.txt", ErrorKind::disk, 1 << 20);
}

void judge(const std::vector<TestNetwork>& networks, const char* name) {
  const fs::path folder = fs::temp_directory_path() / ("trainyard-judges-" + std::string(name));
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const TestNetwork& network : networks) {
    CAPTURE(network.name);
    write_case(folder, network, false);
    write_case(folder, network, true);
  }
  int code = 0;
  const std::string words = judged(folder, code);
  MESSAGE(words);
  CHECK(code == 0);
  fs::remove_all(folder);
}

TEST_CASE("onnxruntime and OpenCV give the logits of every shipped network" *
          doctest::skip(no_judges())) {
  judge(shipped_networks(), "shipped");
}

TEST_CASE("onnxruntime gives what every op and attribute gives" * doctest::skip(no_judges())) {
  judge(small_networks(), "small");
}

}  // namespace
}  // namespace trainyard::export_tests
