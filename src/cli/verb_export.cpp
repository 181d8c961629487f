// `train export`: a run's network for other programs; `train import`: their weights for a network.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/checks.h"
#include "cli/named_run.h"
#include "cli/output.h"
#include "cli/run_flags.h"
#include "cli/verbs.h"
#include "export/export_run.h"
#include "export/named_weights.h"
#include "run/config/batch_numbers.h"
#include "run/config/layer_overrides.h"

namespace trainyard::cli {

namespace {

struct ExportFlags {
  std::string run, onnx, safetensors;
  OnnxRequest request;
};

std::string values_text(const std::vector<OnnxValue>& values) {
  std::vector<std::string> texts;
  for (const OnnxValue& value : values) texts.push_back(value.name + " " + type_text(value));
  return joined(texts);
}

void write_onnx(const StoredModel& stored, const ExportFlags& flags, const std::string& place) {
  const OnnxModel model = onnx_of(stored, flags.request);
  const std::string bytes = encode_onnx(model);
  Disk().write_output(place, bytes);
  print(flags.onnx + ": ONNX opset " + std::to_string(kOnnxOpset) + ", " +
        count_text(std::ssize(model.nodes), "node") + ", " + memory_text(bytes.size()) +
        "\n  inputs: " + values_text(model.inputs) + "\n  outputs: " + values_text(model.outputs) +
        "\n");
}

void write_safetensors(const StoredModel& stored, const ExportFlags& flags,
                       const std::string& place) {
  const SafetensorsImage image = safetensors_of(stored);
  Disk().write_output(place, image.parts());
  print(flags.safetensors + ": " +
        count_text(std::ssize(stored.weights.tensors.tensors()), "tensor") + ", " +
        memory_text(image.size()) + "\n");
}

int export_run(const ExportFlags& flags) {
  if (flags.onnx.empty() && flags.safetensors.empty()) {
    refuse_command("export: give --onnx FILE or --safetensors FILE, or both");
  }
  const std::string onnx = place_for("--onnx", flags.onnx);
  const std::string safetensors = place_for("--safetensors", flags.safetensors);
  const StoredModel stored = open_stored_model(flags.run, {}, print_warning);
  if (!onnx.empty()) write_onnx(stored, flags, onnx);
  if (!safetensors.empty()) write_safetensors(stored, flags, safetensors);
  return 0;
}

struct ImportFlags {
  RunFlags run;
  std::string weights, names, output;
  bool partial = false;
};

constexpr std::size_t kNamesShown = 4;

void require_all(const ImportedWeights& imported, const ImportFlags& flags) {
  if (imported.tensors.empty() && (imported.unused.empty() || imported.missing.empty())) {
    throw checkpoint_error(flags.weights + ": nothing to import: " +
                           (imported.unused.empty()
                                ? "the file has no tensors"
                                : "the network of " + flags.run.config + " has no weights"));
  }
  if (imported.tensors.empty()) {
    throw checkpoint_error(
        flags.weights + ": none of its " + std::to_string(imported.unused.size()) +
        " tensors is named as in this network; it has '" + imported.unused.front() +
        "', the network '" + imported.missing.front() + "': give a map with --names");
  }
  if (imported.missing.empty() || flags.partial) return;
  throw checkpoint_error(
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

void declare_export(CLI::App& app, const Context& context, Action& action) {
  auto flags = std::make_shared<ExportFlags>();  // shared with the action, which outlives parsing
  add_run(app, "run", flags->run,
          "run folder, or runs/NAME, or a checkpoint; a run means its best checkpoint", context)
      ->required();
  auto* onnx = add_output(app, "--onnx", flags->onnx, "the network as an ONNX file, opset 17");
  app.add_flag("--preprocess", flags->request.preprocess,
               "with the run's preprocessing: the input is the data's own values, as 0 to 255")
      ->needs(onnx);
  app.add_flag("--fold-bn", flags->request.fold, "batch norm as part of the layer before it")
      ->needs(onnx);
  app.add_flag("--logits", flags->request.logits, "without the closing softmax or sigmoid")
      ->needs(onnx);
  add_output(app, "--safetensors", flags->safetensors, "the weights, under their layers' paths");
  action = [flags] { return export_run(*flags); };
}

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
  add_set_flag(app, flags->run.overrides);
  action = [flags] { return import_file(*flags); };
}

}  // namespace trainyard::cli
