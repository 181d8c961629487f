#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/verbs.h"
#include "config/schema.h"
#include "graph/words.h"
#include "run/config/run_config.h"

namespace trainyard::cli {
namespace {

struct SchemaFlags {
  bool network = false;
  bool reference = false;
};

}  // namespace

void declare_schema(CLI::App& app, const Context&, Action& action) {
  auto flags = std::make_shared<SchemaFlags>();  // shared with the action, which outlives parsing
  app.add_flag("--network", flags->network, "for network files instead of run files");
  app.add_flag("--reference", flags->reference, "print a Markdown reference");
  action = [flags] {
    const auto fields = flags->network ? describe_network() : describe_run();
    const std::string title = flags->network ? "Network files" : "Run files";
    const std::string text = flags->reference ? config::reference_text(fields, title)
                             : flags->network
                                 ? config::json_schema(fields, title, "blocks")
                                 : config::json_schema(config::inheritable(fields), title);
    std::fputs(text.c_str(), stdout);
    return 0;
  };
}

}  // namespace trainyard::cli
