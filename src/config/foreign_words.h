// Words of Keras, PyTorch, timm, Caffe and Darknet for what has another name here, for messages.
// The one place of this folder that knows names of keys.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::config {

struct ForeignWord {
  std::string_view words;   // in lower case, without '_', '-' and '.', apart by blanks
  std::string_view places;  // where they have this meaning: the map whose key a word would be
                            // ("run", "conv"), or the key whose value ("loss"), "layer", "flag"
  std::string_view here;  // what is written here: a word, a key, "key: value", a path of a run file
                          // ("checkpoint.every"), a flag ("--out"); "": nothing
  std::string_view remark = "";  // what `here` is, if it is nothing of the same kind
};

[[nodiscard]] std::span<const ForeignWord> foreign_words();
/// The meaning of `word`, in any spelling, at `place`; null if there is none.
[[nodiscard]] const ForeignWord* foreign_word(std::string_view word, std::string_view place);
/// "; here it is 'early_stop'" for the end of a message.
[[nodiscard]] std::string meaning_text(const ForeignWord& word);
/// The meaning_text() of an unknown word at `place`, else the suggestion() of the nearest of
/// `known`.
[[nodiscard]] std::string meaning_or_nearest(const std::string& word, std::string_view place,
                                             const std::vector<std::string>& known);

}  // namespace trainyard::config
