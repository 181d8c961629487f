// Reads a stream of JSON objects, one per line, and prints the values of keys for the e2e scripts:
//
//   json_lines KEY... <file
//
// One line of values per object, separated by blanks; a missing key is "-". A line that is not a
// JSON object ends it with the line number and exit code 1.
#include <cstdio>
#include <iostream>
#include <string>

#include "formats/json.h"

using namespace trainyard;

namespace {

std::string value_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return "-";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

}  // namespace

int main(int argc, char** argv) {
  std::string line;
  for (int number = 1; std::getline(std::cin, line); ++number) {
    Json object;
    try {
      object = parse_json(line, {"stdin"});
    } catch (const Error& error) {
      object = error.what();
    }
    if (!object.is_object()) {
      std::fprintf(stderr, "line %d is no JSON object: %s\n", number, line.c_str());
      return 1;
    }
    for (int i = 1; i < argc; ++i) {
      std::printf("%s%s", i > 1 ? " " : "", value_of(object, argv[i]).c_str());
    }
    std::printf("\n");
  }
}
