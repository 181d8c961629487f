// Weights of another program under a network's own names.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "export/named_weights.h"
#include "formats/safetensors.h"

namespace trainyard {

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
