// What a network reads of a sample: the key `input` of its file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostics.h"
#include "config/expression.h"
#include "config/node.h"
#include "config/schema.h"
#include "graph/graph.h"

namespace trainyard {

/// A sample of numbers, [features] or [channels, height, width], or of tokens, [tokens].
struct NetworkInput {
  std::vector<std::int64_t> extents;  // without the batch; empty after an error
  std::int64_t vocabulary = 0;        // tokens are below it; 0: the sample holds numbers
  bool lengths = false;               // samples have lengths; the other steps are padding
};

/// Reads `[features]`, `[channels, height, width]`, `{steps: T, features: F}`, which is the map
/// [F, 1, T], or `{tokens: T, vocabulary: V}`; both may have `lengths: true`. Errors go to
/// `diagnostics`.
[[nodiscard]] NetworkInput read_input(const config::Node& written, const config::Scope& variables,
                                      config::Diagnostics& diagnostics);
/// The input of a graph for `batch` samples: f32, or i32 [batch, tokens].
[[nodiscard]] Value input_value(const NetworkInput& input, std::int64_t batch);

/// The input of a graph as a file has it: "[3, 32, 32]" or "{tokens: 80, vocabulary: 20000}".
[[nodiscard]] std::string input_text(const Graph& graph);

/// What a graph's samples are called in a throughput.
struct SampleUnit {
  std::string_view brief;   // in console lines: "img" of "img/s"
  std::string_view plural;  // in tables: "images" of "images/s"
};
/// Images; sequences (tokens, or maps [features, 1, steps]): "seq"; else "samples".
[[nodiscard]] SampleUnit sample_unit(const Graph& graph);

/// The key, for the reference and the JSON Schema.
[[nodiscard]] config::FieldDescription describe_input(config::Profile profile);

}  // namespace trainyard
