// Windows of a text, for models that predict what comes next.
#pragma once

#include "data/sets/source.h"
#include "data/sets/token_set.h"
#include "data/text/text_units.h"

namespace trainyard {

/// What is predicted of a window: the token after it, or that after each of its positions.
enum class Predicted { last, every };
[[nodiscard]] constexpr config::Words<Predicted> words(Predicted) { return {"last", "every"}; }

struct TextOptions : SourceOptions {
  config::FilePath file;
  TextUnit unit = TextUnit::characters;
  std::int64_t vocabulary = 0;       // tokens, see vocabulary_of_text()
  config::FilePath vocabulary_from;  // a run's vocabulary.json, or a text to count; "": this text
  std::int64_t length = 40;
  std::int64_t stride = 3;
  Predicted predict = Predicted::last;
  bool lower_case = false;  // ASCII letters
};
void declare(config::Fields& fields, TextOptions& options);

/// Windows of `length` tokens that begin at every `stride`-th one and are followed by another: as
/// Keras's example lstm_text_generation. The label is the token after a window, or [length] for
/// each position. Classes are the tokens of the vocabulary. Throws Error{data} with file, line and
/// byte: text that is not UTF-8 or has a zero byte (unless `unit` is bytes), a token that is not in
/// the vocabulary; for an empty text, one of fewer than length + 1 tokens, or of more than 1 GiB.
[[nodiscard]] DatasetPtr open_text(const TextOptions& options);
/// A part: that for validation is the end of the text, `fraction` of its tokens. The vocabulary is
/// that of the training part.
[[nodiscard]] DatasetPtr open_text_part(const TextOptions& options, double fraction, Part part);

[[nodiscard]] std::unique_ptr<DatasetSource> read_text_source(config::Fields& fields);

}  // namespace trainyard
