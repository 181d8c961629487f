#include "engines.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "faults.h"

namespace standin::cudnn {
namespace {

constexpr std::int64_t kVectorBytes = 16;

/// What every engine here requires of a graph: one type of f32, f16 and bf16, the same for a bias
/// (no engine of cuDNN mixes another with 16 bits), products summed in f32, and its result not
/// scaled. As cuDNN's, they add it to what the tensor holds if beta is not 0, unless a test
/// requests otherwise.
bool is_common(const Convolution& conv) {
  const cudnnDataType_t type = conv.input.type;
  const auto has_the_type = [type](const Tensor& tensor) { return tensor.type == type; };
  return size_of(type) > 0 && std::ranges::all_of(conv.tensors(), has_the_type) &&
         conv.sums == CUDNN_DATA_FLOAT && conv.mode == CUDNN_CROSS_CORRELATION && conv.alpha == 1 &&
         (conv.beta == 0 || requested_failure("cudnnAdding", -1).empty());
}

/// The engine reads vectors of channels.
bool is_in_vectors(const Convolution& conv) {
  return std::ranges::all_of(conv.tensors(), [](const Tensor& tensor) {
    return tensor.alignment % kVectorBytes == 0 && tensor.strides[1] == 1;
  });
}

bool plain(const Convolution& conv) { return is_common(conv) && !conv.bias; }
bool in_vectors(const Convolution& conv) { return plain(conv) && is_in_vectors(conv); }
bool weight_gradient(const Convolution& conv) {
  return plain(conv) && conv.computes == Computes::weight_gradient;
}
bool with_bias(const Convolution& conv) {
  return is_common(conv) && conv.bias.has_value() && conv.beta == 0;
}

// Notes and failures are those of cuDNN's engines. The nondeterministic one represents those that
// add partial sums in order of arrival; the one that fails at its plan, those compiled at run time,
// without a compiler; the one that fails in capture, those that read a result on the host midway.
const std::vector<Engine> kEngines{
    {.index = 0, .name = "conv plain", .serves = &plain},
    {.index = 1,
     .name = "conv unfolded",
     .knobs = {{CUDNN_KNOB_TYPE_STAGES, 1, 4, 1}},
     .serves = &plain,
     .unfolds_in_workspace = true},
    {.index = 2,
     .name = "conv in any order",
     .notes = {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC},
     .serves = &weight_gradient,
     .turns = true},
    {.index = 3,
     .name = "conv on tensor cores",
     .notes = {CUDNN_NUMERICAL_NOTE_TENSOR_CORE},
     .knobs = {{CUDNN_KNOB_TYPE_TILE_SIZE, 0, 2, 0}, {CUDNN_KNOB_TYPE_STAGES, 1, 4, 2}},
     .serves = &in_vectors,
     .rounding = Rounding::tf32},
    {.index = 4,
     .name = "conv of smaller factors",
     .notes = {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS},
     .serves = &in_vectors,
     .rounding = Rounding::bf16},
    {.index = 5, .name = "conv compiled", .serves = &is_common, .fails = Engine::Fails::at_plan},
    {.index = 6,
     .name = "conv with a look at the host",
     .serves = &plain,
     .fails = Engine::Fails::in_capture},
    {.index = 7,
     .name = "conv that does not start",
     .serves = &plain,
     .fails = Engine::Fails::at_execution},
    {.index = 8, .name = "conv and bias", .serves = &with_bias},
};

std::vector<std::int64_t> standard_knobs(const Engine& engine) {
  std::vector<std::int64_t> values;
  for (const KnobInfo& knob : engine.knobs) values.push_back(knob.standard);
  return values;
}

void put_first(std::vector<std::size_t>& order, std::string_view wanted) {
  std::size_t index = kEngines.size();
  std::from_chars(wanted.data(), wanted.data() + wanted.size(), index);
  const auto found = std::ranges::find(order, index);
  if (found != order.end()) std::rotate(order.begin(), found, found + 1);
}

}  // namespace

std::span<const Engine> engines() { return kEngines; }

std::vector<Proposal> proposals(cudnnBackendHeurMode_t mode) {
  // Before an engine that works come those that do not: refused by their notes, or without a plan;
  // after it those that fail later, last the one that leaves CUDA's last error behind.
  std::vector<std::size_t> order{2, 5, 4, 3, 0, 1, 8, 7, 6};
  if (mode == CUDNN_HEUR_MODE_FALLBACK) order = {0, 8};
  put_first(order, requested_failure("cudnnFirstEngine", -1));
  std::vector<Proposal> list;
  for (const std::size_t index : order) {
    const Engine& engine = kEngines[index];
    list.push_back({&engine, standard_knobs(engine)});
    if (!engine.unfolds_in_workspace) continue;
    list.push_back({&engine, {engine.knobs.front().most}});
  }
  return list;
}

std::int64_t images_at_a_time(const Engine& engine, const std::vector<std::int64_t>& knobs) {
  return engine.unfolds_in_workspace ? knobs.front() : 1;
}

std::int64_t workspace_bytes(const Engine& engine, const Convolution& convolution,
                             const std::vector<std::int64_t>& knobs) {
  if (!engine.unfolds_in_workspace) return 0;
  return images_at_a_time(engine, knobs) * unfolded_bytes(convolution);
}

}  // namespace standin::cudnn
