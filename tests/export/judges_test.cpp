// Other programs compute what exported networks compute: onnxruntime, and OpenCV for networks of
// convolutions, in a virtual environment: $TRAINYARD_JUDGES, made by scripts/judges.sh.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/child_process.h"
#include "base/read_file.h"
#include "data/sets/memory_dataset.h"
#include "evaluated.h"

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

/// The raw values of a batch, and what the network reads of them.
struct RawBatch {
  std::vector<float> raw, read;
};

RawBatch raw_batch(const Pipeline& pipeline, std::int64_t batch) {
  const Shape image = pipeline.output_shape();
  const auto count = static_cast<std::size_t>(image.elements());
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < count * static_cast<std::size_t>(batch); ++i) {
    bytes.push_back(static_cast<std::uint8_t>(i * 89 % 251));
  }
  RawBatch values{.raw = {bytes.begin(), bytes.end()}, .read = std::vector<float>(bytes.size())};
  const MemoryDataset set({.image = image,
                           .bytes = bytes,
                           .floats = {},
                           .labels = std::vector<std::int32_t>(static_cast<std::size_t>(batch)),
                           .classes = 1});
  ImageScratch scratch;
  for (std::int64_t i = 0; i < batch; ++i) {
    pipeline.fill_eval(set, i, scratch, values.read.data() + static_cast<std::size_t>(i) * count);
  }
  pipeline.whiten(batch, scratch, values.read.data());
  return values;
}

/// NAME.onnx, and NAME.safetensors with an input and what it must give.
void write_case(const fs::path& folder, const TestNetwork& test, bool folded) {
  constexpr std::int64_t kBatch = 2;
  const std::string name = test.name + (folded ? "_folded" : "");
  Disk().replace_file(folder / (name + ".onnx"), encode_onnx(model_of(test, folded)));
  const Graph graph = network_with_logits(test.network, kBatch);
  RawBatch values;
  if (test.pipeline) values = raw_batch(*test.pipeline, kBatch);
  Evaluated evaluated = evaluate(test.network, drawn_weights(graph), kBatch, values.read);
  if (test.pipeline) evaluated.input = values.raw;
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

TEST_CASE("onnxruntime computes every preprocessing step" * doctest::skip(no_judges())) {
  judge({preprocessed_network()}, "preprocessed");
}

}  // namespace
}  // namespace trainyard::export_tests
