// Text as a row of characters, bytes or words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "data/sets/vocabulary.h"

namespace trainyard {

[[nodiscard]] constexpr config::Words<TextUnit> words(TextUnit) {
  return {"characters", "bytes", "words"};
}

/// Throws Error{data}: the file, line and byte of `offset`, and `what`.
[[noreturn]] void bad_text(std::string_view text, std::size_t offset, const std::string& name,
                           const std::string& what);

/// Throws Error{data} at the first byte that is not UTF-8 (RFC 3629) or is zero. `advice` ends the
/// message.
void require_utf8(std::string_view text, const std::string& name, const std::string& advice);

/// Calls `each` with the units of a text, which is UTF-8 unless they are bytes. Words are what is
/// between blanks, tabs and line ends. Throws Error{data} for a word of more than 65,536 bytes.
void for_each_unit(std::string_view text, TextUnit unit, const std::string& name,
                   const std::function<void(std::string_view)>& each);

/// The vocabulary of a text's first `count` units. `size` 0: all of them, in the order of their
/// bytes (which is that of code points). Else token 0 is "<unknown>", the size - 1 most frequent
/// follow, ties in the order of their bytes, and what remains has no text. Bytes always have
/// byte_vocabulary().
[[nodiscard]] Vocabulary vocabulary_of_text(std::string_view text, TextUnit unit,
                                            std::int64_t count, std::int64_t size,
                                            const std::string& name);

/// The tokens of a text. Throws Error{data} with the place of a unit that the vocabulary lacks.
[[nodiscard]] std::vector<std::int32_t> tokens_of_text(std::string_view text,
                                                       const Vocabulary& vocabulary,
                                                       const std::string& name);

}  // namespace trainyard
