// `train configs`: the configs and networks that come with the program, or lie in this folder.
#include <CLI/CLI.hpp>
#include <cctype>
#include <fstream>
#include <string>

#include "base/error.h"
#include "base/filesystem.h"
#include "cli/help.h"
#include "cli/output.h"
#include "cli/run_flags.h"
#include "cli/verbs.h"

namespace trainyard::cli {
namespace {

/// Whether a colon, or a full stop before a capital letter, is at `at`.
bool ends_sentence(const std::string& text, std::size_t at) {
  if (text.compare(at, 2, ": ") == 0) return true;
  const bool last = at + 2 >= text.size();
  return text.compare(at, 2, ". ") == 0 &&
         (last || std::isupper(static_cast<unsigned char>(text[at + 2])) != 0);
}

/// The first sentence, up to a colon, of the comment at the head of a file, without the line for
/// editors.
std::string headline(const fs::path& file) {
  std::ifstream text(file);
  std::string head;
  for (std::string line; std::getline(text, line) && line.starts_with("# ");) {
    if (!line.starts_with("# yaml-language-server:")) head += line.substr(2) + " ";
  }
  std::size_t end = 0;
  while (end < head.size() && !ends_sentence(head, end)) ++end;
  return head.substr(0, end);
}

/// False if it has none.
bool list_folder(const fs::path& folder) {
  constexpr std::size_t kNames = 25;
  const std::vector<fs::path> files = yaml_files(folder);
  if (!files.empty()) print(folder.string() + ":\n");
  for (const fs::path& file : files) {
    std::string left = "  " + file.stem().string();
    left = left.size() + 2 <= kNames ? left + std::string(kNames - left.size(), ' ')
                                     : left + "\n" + std::string(kNames, ' ');
    print(left + wrapped(headline(file), kNames) + "\n");
  }
  return !files.empty();
}

}  // namespace

void declare_configs(CLI::App&, const Context&, Action& action) {
  action = [] {
    bool any = false;
    std::string looked;
    for (const fs::path& configs : config_folders()) {
      for (const fs::path& folder : {configs, configs.parent_path() / "models"}) {
        any = list_folder(folder) || any;
        looked += (looked.empty() ? "'" : ", '") + folder.string() + "'";
      }
    }
    if (any) return 0;
    throw config_error("no configs or networks were found (looked at " + looked +
                       "); call it where the sources are, or from an installed program");
  };
}

}  // namespace trainyard::cli
