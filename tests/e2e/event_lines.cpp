// Reads TensorBoard's event files for the e2e scripts, by their specification (event_reader.h):
//
//   event_lines FOLDER
//
// A line for each point of a scalar, "STEP TAG VALUE", in the order of the files' names. A file
// that is not whole records with right sums ends it with exit code 1.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "event_reader.h"

namespace fs = std::filesystem;
using namespace trainyard::test;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const fs::directory_iterator entries(argv[1]);
  std::vector<fs::path> files(entries, fs::directory_iterator());
  std::ranges::sort(files);
  for (const fs::path& path : files) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    try {
      for (const ReadEvent& event : events_of(bytes)) {
        for (const auto& [tag, value] : event.scalars) {
          std::printf("%lld %s %.9g\n", static_cast<long long>(event.step), tag.c_str(),
                      static_cast<double>(value));
        }
      }
    } catch (const std::runtime_error& error) {
      std::fprintf(stderr, "%s: %s\n", path.c_str(), error.what());
      return 1;
    }
  }
}
