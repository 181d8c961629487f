#include "graph/network_input.h"

#include <algorithm>
#include <optional>

#include "config/fields.h"

namespace trainyard {
namespace {

using config::describe;
using config::Diagnostics;
using Kind = config::Node::Kind;

constexpr std::int64_t kLargestExtent = 65'536;
constexpr std::int64_t kLargestVocabulary = std::int64_t{1} << 24;

/// The keys of the two kinds of sequences.
struct SequenceInput {
  std::optional<std::int64_t> tokens, vocabulary, steps, features;
  bool lengths = false;
};

void declare(config::Fields& fields, SequenceInput& input) {
  const config::Limits extent{.minimum = 1, .maximum = kLargestExtent};
  fields.field("tokens", input.tokens, "tokens of a sample, with 'vocabulary'", extent);
  fields.field("vocabulary", input.vocabulary, "tokens are 0 up to this, without it",
               {.minimum = 1, .maximum = kLargestVocabulary});
  fields.field("steps", input.steps, "steps of a sample, with 'features'", extent);
  fields.field("features", input.features, "numbers of each step", extent);
  fields.field("lengths", input.lengths,
               "samples have lengths: the other steps are padding, which layers leave out");
}

NetworkInput read_sequence(const config::Node& node, Diagnostics& diagnostics) {
  const std::size_t errors = diagnostics.size();
  SequenceInput input;
  config::Fields fields(node, nullptr, "input", config::Profile::keras2, diagnostics);
  declare(fields, input);
  fields.finish();
  if (diagnostics.size() > errors) return {};
  const bool numbers = input.steps && input.features && !input.tokens && !input.vocabulary;
  if (numbers) {
    return {.extents = {*input.features, 1, *input.steps}, .lengths = input.lengths};
  }
  if (input.tokens && input.vocabulary && !input.steps && !input.features) {
    return {.extents = {*input.tokens}, .vocabulary = *input.vocabulary, .lengths = input.lengths};
  }
  diagnostics.error(node.where,
                    "input: expected {tokens: ..., vocabulary: ...} or {steps: ..., features: "
                    "...}, found other keys of these four together");
  return {};
}

NetworkInput read_extents(const config::Node& node, Diagnostics& diagnostics) {
  NetworkInput input;
  for (const config::Node& extent : node.items) {
    if (extent.kind != Kind::integer || extent.integer < 1 || extent.integer > kLargestExtent) {
      diagnostics.error(extent.where,
                        "input: expected an integer from 1 to 65536, found " + describe(extent));
    }
    input.extents.push_back(std::clamp<std::int64_t>(extent.integer, 1, kLargestExtent));
  }
  return input;
}

}  // namespace

NetworkInput read_input(const config::Node& written, const config::Scope& variables,
                        Diagnostics& diagnostics) {
  const config::Node node = config::resolved(written, variables, diagnostics);
  if (node.kind == Kind::map) return read_sequence(node, diagnostics);
  const bool sized = node.kind == Kind::list && (node.items.size() == 1 || node.items.size() == 3);
  if (sized) return read_extents(node, diagnostics);
  diagnostics.error(written.where,
                    "input: expected [channels, height, width], [features], {tokens: ..., "
                    "vocabulary: ...} or {steps: ..., features: ...}, found " +
                        (node.kind == Kind::list ? "a list of " + std::to_string(node.items.size())
                                                 : describe(node)));
  return {};
}

Value input_value(const NetworkInput& input, std::int64_t batch) {
  const std::vector<std::int64_t>& of = input.extents;
  if (input.vocabulary > 0) return {.shape = {batch, of[0]}, .type = DType::i32};
  return {.shape = of.size() == 1 ? Shape{batch, of[0]} : Shape{batch, of[0], of[1], of[2]}};
}

std::string input_text(const Graph& graph) {
  const Shape& shape = graph.values.at(static_cast<std::size_t>(graph.inputs.at(0))).shape;
  const std::string lengths = graph.mask >= 0 ? ", lengths: true" : "";
  if (graph.vocabulary > 0) {
    return "{tokens: " + std::to_string(shape.c()) +
           ", vocabulary: " + std::to_string(graph.vocabulary) + lengths + "}";
  }
  if (graph.mask >= 0) {
    return "{steps: " + std::to_string(shape.w()) + ", features: " + std::to_string(shape.c()) +
           lengths + "}";
  }
  std::string text = "[";
  for (int axis = 1; axis < shape.rank(); ++axis) {
    text += (axis > 1 ? ", " : "") + std::to_string(shape[axis]);
  }
  return text + "]";
}

SampleUnit sample_unit(const Graph& graph) {
  const Shape& shape = graph.values.at(static_cast<std::size_t>(graph.inputs.at(0))).shape;
  if (graph.vocabulary > 0) return {"seq", "seq"};
  if (shape.rank() < 4) return {"samples", "samples"};
  return shape.h() == 1 ? SampleUnit{"seq", "seq"} : SampleUnit{"img", "images"};
}

config::FieldDescription describe_input(config::Profile profile) {
  config::Fields sequence(profile);
  SequenceInput input;
  declare(sequence, input);
  config::FieldDescription field;
  field.key = "input";
  field.type = "sizes or map";
  field.help =
      "one sample: [channels, height, width], [features], or a sequence by tokens and vocabulary "
      "or by steps and features";
  field.required = field.has_minimum = field.keys_only = true;
  field.minimum = 1;
  field.fields = sequence.descriptions();
  return field;
}

}  // namespace trainyard
