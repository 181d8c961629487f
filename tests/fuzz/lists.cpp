#include "base/hash.h"
#include "data/sets/image_index.h"
#include "data/sets/separated_rows.h"
#include "expect.h"

namespace trainyard::fuzz {

void read_list(std::string_view input) {
  for (const auto& word : words(Separator{})) {
    std::int64_t line = 0;
    for (const SeparatedRow& row : separated_rows(input, word.value, "x")) {
      expect(row.line > line, "rows begin in one line");
      line = row.line;
      expect(!row.cells.empty(), "a row has no cells");
      const bool divided = word.value != Separator::space || row.cells.size() == 2;
      expect(divided, "a line is not divided at one space");
    }
  }
}

/// The input without its hash, which is added so that the code behind it is reached.
void read_image_index(std::string_view input) {
  std::string text(input);
  text += "xxh3 " + hash128_hex(text) + "\n";
  const auto records = parse_image_index(text);
  const std::string written = image_index_text(records);
  const auto again = read_again(written, [&] { return parse_image_index(written); });
  expect(again.size() == records.size(), "an index loses records when it is written");
}

}  // namespace trainyard::fuzz
