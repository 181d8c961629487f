// Sequences and vectors, with labels or numbers as targets, from numpy's .npy and .npz files.
#pragma once

#include "data/sets/source.h"
#include "data/sets/token_set.h"

namespace trainyard {

struct ArraysOptions : SourceOptions {
  static constexpr std::string_view kName = "arrays";
  config::FilePath file;     // .npz; "": x and y are files
  config::FilePath x = "x";  // the names of the arrays in it, or of their .npy files
  config::FilePath y = "y";
  config::FilePath lengths;     // the same of the samples' lengths; "": they have none
  std::int64_t vocabulary = 0;  // number of tokens, if x are whole numbers; 0: x are numbers
  std::int64_t classes = 0;     // 0: the largest label plus one
  bool vectors = false;         // x is [n, features]: no sequences
  bool labelled = true;         // false: y is not read, and every label is 0; no key
};
void declare(config::Fields& fields, ArraysOptions& options);

/// x: numbers [n, t, features], or [n, t] with one feature, read as images [features, 1, t]; with a
/// vocabulary, tokens [n, t] of whole numbers below it; with `vectors` numbers [n, features], read
/// as [features, 1, 1]. y: classes [n] or [n, 1] of whole numbers, or [n, t], one for each
/// position; real numbers [n] or [n, outputs] are the field `y`, and the labels -1: none. lengths:
/// whole numbers [n] up to t, the field `length`. Throws Error{data}: as ZipFile and parse_numpy(),
/// for unsuitable shapes and types, labels or tokens out of range.
[[nodiscard]] DatasetPtr open_arrays(const ArraysOptions& options);

}  // namespace trainyard
