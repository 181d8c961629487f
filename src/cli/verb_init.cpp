// `train init`: a config and a network to begin with.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "cli/output.h"
#include "cli/verbs.h"
#include "starter/starter.h"

namespace trainyard::cli {
namespace {

struct InitFlags {
  std::string data, from, out = ".";
};

int init(const InitFlags& flags) {
  const StarterData data = look_at_data(flags.data);
  std::optional<Pretrained> weights;
  if (!flags.from.empty()) {
    if (data.kind != StarterKind::images) {
      refuse_command("--from fine-tunes on images: '" + flags.data +
                     "' is neither a folder nor a list of them");
    }
    require_file("--from", flags.from, ErrorKind::checkpoint);
    weights = read_pretrained(flags.from);
  }
  const StarterFiles files = write_starter(data, weights ? &*weights : nullptr, flags.out, Disk());
  const std::string also = files.weights.empty() ? "" : ", and " + files.weights.string();
  print("wrote " + files.config.string() + (also.empty() ? " and " : ", ") +
        files.network.string() + also + "\nnext: train check " + files.config.string() + "\n");
  return 0;
}

}  // namespace

void declare_init(CLI::App& app, const Context&, Action& action) {
  auto flags = std::make_shared<InitFlags>();  // shared with the action, which outlives parsing
  app.add_option(
         "data", flags->data,
         "a folder of images with a folder for each class, a list of images, a table or texts "
         "in rows (CSV, TSV), a text file, or cifar10, mnist, fashion_mnist, imdb")
      ->required()
      ->type_name("DATA");
  app.add_option("--from", flags->from,
                 "weights to fine-tune on images: a safetensors file of torchvision's or timm's "
                 "ResNet-18, ResNet-34 or ResNet-50")
      ->type_name("FILE");
  app.add_option("--out", flags->out, "folder of the files")->type_name("FOLDER");
  action = [flags] { return init(*flags); };
}

}  // namespace trainyard::cli
