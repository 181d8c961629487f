// `train man`: manual pages.
#include <CLI/CLI.hpp>
#include <memory>

#include "base/atomic_file.h"
#include "base/error.h"
#include "cli/man_page.h"
#include "cli/print.h"
#include "cli/verbs.h"
#include "config/diagnostics.h"

namespace trainyard::cli {
namespace {

struct ManFlags {
  std::string verb = "train", out;
};

const CLI::App& verb_named(const CLI::App& program, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::App* verb : program.get_subcommands(nullptr)) {
    if (verb->get_name() == name) return *verb;
    names.push_back(verb->get_name());
  }
  refuse_command("there is no verb '" + name + "'; 'train --help' lists them" +
                 config::suggestion(name, names));
}

void write_pages(const CLI::App& program, const std::filesystem::path& folder) {
  const Disk disk;
  disk.make_folders(folder);
  for (const CLI::App* verb : program.get_subcommands(nullptr)) {
    disk.replace_file(folder / (page_name(*verb) + ".1"), man_page(*verb));
  }
}

}  // namespace

void declare_man(CLI::App& app, const Context&, Action& action) {
  auto flags = std::make_shared<ManFlags>();  // shared with the action, which outlives parsing
  app.add_option("verb", flags->verb, "whose page to print")->type_name("VERB");
  app.add_option("--out", flags->out, "write the pages of all verbs into this folder instead")
      ->type_name("FOLDER");
  action = [&app, flags] {
    const CLI::App& program = *app.get_parent();
    if (!flags->out.empty()) {
      write_pages(program, flags->out);
    } else {
      print_data(man_page(verb_named(program, flags->verb)));
    }
    return 0;
  };
}

}  // namespace trainyard::cli
