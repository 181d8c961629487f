// `train export`: a run's network for other programs.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/named_run.h"
#include "cli/output.h"
#include "cli/run_flags.h"
#include "cli/verbs.h"
#include "export/export_run.h"

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

}  // namespace

void declare_export(CLI::App& app, const Context& context, Action& action) {
  auto flags = std::make_shared<ExportFlags>();  // shared with the action, which outlives parsing
  app.add_option("run", flags->run,
                 "run folder, or runs/NAME, or a checkpoint; a run means its best checkpoint")
      ->required()
      ->transform(newest_run_of_name(context))
      ->type_name("RUN");
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

}  // namespace trainyard::cli
