// `train init`: a config and a network to begin with.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/output.h"
#include "cli/verbs.h"
#include "starter/starter.h"

namespace trainyard::cli {
namespace {

struct InitFlags {
  std::string data, out = ".";
};

int init(const InitFlags& flags) {
  const StarterFiles files = write_starter(look_at_data(flags.data), flags.out, Disk());
  print("wrote " + files.config.string() + " and " + files.network.string() +
        "\nnext: train check " + files.config.string() + "\n");
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
  app.add_option("--out", flags->out, "folder of the two files")->type_name("FOLDER");
  action = [flags] { return init(*flags); };
}

}  // namespace trainyard::cli
