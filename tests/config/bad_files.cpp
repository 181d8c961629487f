#include "bad_files.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace trainyard::config {
namespace {

constexpr std::string_view kExpect = "# expect: ";
constexpr std::string_view kAs = "# as: ";

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

BadFile read_bad_file(const std::filesystem::path& path) {
  BadFile file;
  file.name = path.filename().string();
  file.text = contents(path);
  std::istringstream lines(file.text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kExpect)) {
      if (!file.expected.empty()) file.expected += '\n';
      file.expected += file.name + ":" + line.substr(kExpect.size());
    } else if (line.starts_with(kAs)) {
      file.as = line.substr(kAs.size());
    } else {
      break;
    }
  }
  if (file.expected.empty()) throw std::runtime_error(path.string() + " has no '# expect: ' line");
  return file;
}

}  // namespace

std::vector<BadFile> bad_files(const std::filesystem::path& folder) {
  std::vector<BadFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") files.push_back(read_bad_file(entry.path()));
  }
  std::sort(files.begin(), files.end(),
            [](const BadFile& a, const BadFile& b) { return a.name < b.name; });
  return files;
}

}  // namespace trainyard::config
