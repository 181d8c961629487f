// `train import`: weights of other programs for a network.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "cli/checks.h"
#include "cli/output.h"
#include "cli/run_flags.h"
#include "cli/verbs.h"
#include "export/export_run.h"
#include "export/import_weights.h"
#include "run/config/batch_numbers.h"
#include "run/config/layer_overrides.h"

namespace trainyard::cli {
namespace {

struct ImportFlags {
  RunFlags run;
  std::string weights, names, output;
  bool partial = false;
};

constexpr std::size_t kNamesShown = 4;

void require_all(const ImportedWeights& imported, const ImportFlags& flags) {
  if (imported.tensors.empty() && (imported.unused.empty() || imported.missing.empty())) {
    throw Error(
        ErrorKind::checkpoint,
        flags.weights + ": nothing to import: " +
            (imported.unused.empty() ? "the file has no tensors"
                                     : "the network of " + flags.run.config + " has no weights"));
  }
  if (imported.tensors.empty()) {
    throw Error(ErrorKind::checkpoint,
                flags.weights + ": none of its " + std::to_string(imported.unused.size()) +
                    " tensors is named as in this network; it has '" + imported.unused.front() +
                    "', the network '" + imported.missing.front() + "': give a map with --names");
  }
  if (imported.missing.empty() || flags.partial) return;
  throw Error(
      ErrorKind::checkpoint,
      flags.weights + ": has " + text_of(imported, kNamesShown) +
          "\nname them with --names, or leave them to the run's initializers with --partial");
}

int import_file(const ImportFlags& flags) {
  const std::string place = place_for("--output", flags.output);
  const RunConfig run = read_config(flags.run);
  require_file("FILE", flags.weights, ErrorKind::checkpoint);
  NameMap map;
  if (!flags.names.empty()) {
    require_file("--names", flags.names, ErrorKind::config);
    map = read_name_map(flags.names);
  }
  const Graph network = build_whole_network(run, replica_batch(run, 1));
  const SafetensorsFile file = SafetensorsFile::open(flags.weights, ErrorKind::checkpoint);
  const ImportedWeights imported = import_weights(file, flags.weights, network, map);
  require_all(imported, flags);
  Disk().write_output(place, weights_image(imported.tensors).parts());
  print(flags.output + ": " + text_of(imported, kNamesShown) + "\n");
  return 0;
}

}  // namespace

void declare_import(CLI::App& app, const Context&, Action& action) {
  auto flags = std::make_shared<ImportFlags>();  // shared with the action, which outlives parsing
  app.add_option("weights", flags->weights, "safetensors file of another program")
      ->required()
      ->type_name("FILE");
  app.add_option("--config", flags->run.config, "run file of the network that the weights are for")
      ->required()
      ->type_name("FILE");
  add_output(app, "-o,--output", flags->output, "safetensors file for --init of that network")
      ->required();
  app.add_option("--names", flags->names,
                 "map of names: YAML (OURS: THEIRS) or lines (OURS THEIRS), of tensors or layers")
      ->type_name("FILE");
  app.add_flag("--partial", flags->partial, "tensors of the network may be missing in the file");
  app.add_option("--set", flags->run.overrides,
                 "change a key of the run file: a.b.c=value (repeatable)")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  action = [flags] { return import_file(*flags); };
}

}  // namespace trainyard::cli
