#include "cli/data_get.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/text.h"
#include "cli/environment.h"
#include "cli/messages.h"
#include "cli/print.h"
#include "fetch/get_set.h"

namespace trainyard::cli {
namespace {

/// A line that is redrawn on a terminal with each percent; nothing elsewhere.
class PercentBar {
 public:
  explicit PercentBar(Messages& messages) : messages_(messages) {}

  void operator()(const RemoteFile& file, std::uint64_t bytes) {
    const std::uint64_t percent = bytes * 100 / file.bytes;
    if (percent == shown_ || isatty(STDERR_FILENO) == 0) return;
    shown_ = percent;
    messages_.show_bar(fmt::format("{} {:>3} % of {}", file.name(), percent,
                                   memory_text(static_cast<std::size_t>(file.bytes))));
  }

 private:
  Messages& messages_;
  std::uint64_t shown_ = 0;
};

std::string set_names() {
  std::vector<std::string> names;
  for (const KnownSet& set : known_sets()) names.push_back(set.name);
  return joined(names, "|");
}

}  // namespace

CLI::App* add_get(CLI::App& data, GetFlags& flags) {
  CLI::App* command = data.add_subcommand(
      "get", "fetch a published data set, check its hash and unpack it; continues if it was ended");
  command->add_option("set", flags.name, "the data set")->required()->type_name(set_names());
  command->add_option("--to", flags.to, "data folder (default: $TRAINYARD_DATA, or data)")
      ->type_name("FOLDER");
  command
      ->add_option("--from", flags.from,
                   "address of a folder with the same files: a mirror, or file:///FOLDER")
      ->check(CLI::Validator(
          [](const std::string& text) {
            const std::string url = lower_case(text);
            const bool known = url.starts_with("http://") || url.starts_with("https://") ||
                               url.starts_with("file:///");
            return known ? ""
                         : "expected an address that begins with http://, https:// or file:///, "
                           "found '" +
                               text + "'";
          },
          ""))
      ->type_name("URL");
  return command;
}

int get(const GetFlags& flags, Messages& messages) {
  const std::string usual = variable("TRAINYARD_DATA");
  GetOptions options{.to = flags.to, .from = flags.from, .progress = PercentBar(messages)};
  if (flags.to.empty()) options.to = usual.empty() ? "data" : usual;
  options.tell = [&](const std::string& line) {
    messages.clear_bar();
    print(line + "\n");
    std::fflush(stdout);
  };
  const KnownSet& set = known_set(flags.name);
  const std::filesystem::path folder = get_set(set, options);
  const bool found = options.to == std::filesystem::path(usual.empty() ? "data" : usual);
  const std::string root = found ? "" : ", root: " + options.to.string();
  print("in a run file: {source: " + set.name + root + "}\n");
  return 0;
}

}  // namespace trainyard::cli
