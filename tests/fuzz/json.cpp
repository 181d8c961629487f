#include "formats/json.h"

#include "expect.h"

namespace trainyard::fuzz {

void read_json(std::string_view input) {
  const JsonSource source{"x.json", ErrorKind::data};
  const Json value = parse_json(input, source);
  const std::string text = json_text(value);
  const Json again = read_again(text, [&] { return parse_json(text, source); });
  expect(again == value, "written JSON reads to other values:\n" + text);
}

}  // namespace trainyard::fuzz
