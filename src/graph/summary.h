// The output of `train summary`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace trainyard {

/// One node of the expanded network, or several of one block.
struct SummaryRow {
  std::string path;
  std::string type;
  std::string attributes;            // YAML flow text
  Shape output;                      // with the batch
  std::string parameters_of;         // path of the layer whose parameters it uses; "": its own
  std::int64_t parameters = 0;       // trainable or frozen, of its own
  std::int64_t statistics = 0;       // running statistics
  std::int64_t multiply_adds = 0;    // work for one sample, forward
  std::size_t activation_bytes = 0;  // bytes of the output for the whole batch, in float32
  bool with_loss = false;            // computed together with the loss, not by itself
  std::int64_t layers = 1;           // nodes
  Position where;
};

/// The rows in order, and the sums.
struct Summary {
  Shape input;                  // with the batch
  std::string input_text;       // as a file has it
  std::int64_t vocabulary = 0;  // number of tokens; 0: the input is numbers
  std::vector<SummaryRow> rows;
  GraphTotals totals;
  std::size_t activation_bytes = 0;
};
/// `closing_with_loss`: the loss computes the final activation, which then takes no memory.
[[nodiscard]] Summary summarise(const Graph& graph, bool closing_with_loss = false);

/// The same with consecutive layers whose paths agree in their first `depth` parts (at least 1) as
/// one row: its path those parts, its type "7 layers", its output the last one's, its numbers their
/// sums.
[[nodiscard]] Summary folded(Summary summary, int depth);

/// A table of path, type, output (without the batch), parameters, multiply-adds and activation KiB,
/// with totals below.
[[nodiscard]] std::string summary_text(const Summary& summary);
/// The same as JSON, with attributes.
[[nodiscard]] std::string summary_json(const Summary& summary);

/// The network without vars, defaults, blocks, repeat, for and if: one item per node, in YAML that
/// builds an equal graph. Values read by more than the next item are named by their path.
[[nodiscard]] std::string expanded_yaml(const Graph& graph);

}  // namespace trainyard
