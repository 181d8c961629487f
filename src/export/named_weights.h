// A network's weights by name, and weights of another program under those names.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/filesystem.h"
#include "formats/safetensors.h"
#include "graph/graph.h"

namespace trainyard {

/// A tensor that a network has.
struct WeightSpec {
  std::string name;  // "stage1.conv1.weight"
  Shape shape;
};

/// The parameters and running statistics of a network, in the order of its nodes.
[[nodiscard]] std::vector<WeightSpec> weight_specs(const Graph& network);

/// Values by name, row-major.
using NamedWeights = std::map<std::string, std::vector<float>>;

/// A network's weights in `file`; doubles are rounded. Throws Error{checkpoint}, naming `source`,
/// with every tensor that is missing or has another shape or no floats.
[[nodiscard]] NamedWeights read_named_weights(const SafetensorsFile& file,
                                              const std::string& source, const Graph& network);

// Whose tensors become which of a network's: a map of names.

/// One line of a map: a tensor ("stage1.conv1.weight") or a whole layer ("stage1.conv1") of the
/// network, and what it is in the other file. Several tensors are added.
struct NameMapEntry {
  std::string ours;
  std::vector<std::string> theirs;
  Position where;
};

/// In the order of the file; no name of ours is there twice.
using NameMap = std::vector<NameMapEntry>;

/// Reads a YAML map `OURS: THEIRS` or `OURS: [THEIRS, THEIRS]` (.yaml, .yml), or a text of lines
/// `OURS THEIRS THEIRS` with blanks or tabs between names and # before a comment. Throws
/// Error{config} with all errors of the file.
[[nodiscard]] NameMap read_name_map(const fs::path& path);

/// Tensors of a network, from another program's file.
struct ImportedWeights {
  std::vector<NamedTensor> tensors;  // their bytes are the file's or in `sums`
  std::vector<std::vector<float>> sums;
  std::vector<std::string> missing;  // the network's: nothing in the file is meant for them
  std::vector<std::string> unused;   // tensors of the file; those without a shape are last
};

/// The tensors of `network` in `file`: by `map`, of what it does not name by their own names. A
/// layer's tensors have, below the other layer's name, their own last word or PyTorch's: `weight`
/// and `bias` for gamma and beta of norms, `weight` for alpha of a prelu, `weight_ih_l0`,
/// `weight_hh_l0` and the sum of `bias_ih_l0` and `bias_hh_l0` for a recurrent layer, or each of
/// them where it has two biases. Values keep their types; sums are f32. The layouts are PyTorch's:
/// convolutions OIHW, dense [out, in]. Throws Error{checkpoint}, naming `source`, with every name
/// of the map that the network or the file lacks, every tensor whose shape differs, with both names
/// and shapes, or that has no floats.
[[nodiscard]] ImportedWeights import_weights(const SafetensorsFile& file, const std::string& source,
                                             const Graph& network, const NameMap& map);

/// What became of the tensors, one line per kind with the first `shown` names. No trailing line
/// feed.
[[nodiscard]] std::string text_of(const ImportedWeights& imported, std::size_t shown);

}  // namespace trainyard
