// A network's weights on the host, by name.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
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
[[nodiscard]] NameMap read_name_map(const std::filesystem::path& path);

}  // namespace trainyard
