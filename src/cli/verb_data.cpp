#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/parallel.h"
#include "cli/checks.h"
#include "cli/data_get.h"
#include "cli/data_pack.h"
#include "cli/data_read.h"
#include "cli/verbs.h"
#include "data/sets/make_shapes.h"

namespace trainyard::cli {

void declare_data(CLI::App& app, const Context& context, Action& action) {
  struct Flags {
    std::string destination;
    ShapesOptions options;
    PackFlags pack;
    ReadFlags read;
    GetFlags get;
  };
  auto flags = std::make_shared<Flags>();  // shared with the action, which outlives parsing
  app.require_subcommand(1);
  CLI::App* make = app.add_subcommand("make", "generate a data set");
  make->require_subcommand(1);
  CLI::App* shapes = make->add_subcommand(
      "shapes", "10 classes of drawn shapes, 32x32, in CIFAR-10's binary layout");
  shapes->add_option("destination", flags->destination, "folder, new or empty")
      ->required()
      ->type_name("FOLDER");
  shapes->add_option("--train", flags->options.train, "training samples")
      ->check(whole_number(5, 10'000'000))
      ->type_name("N");
  shapes->add_option("--test", flags->options.test, "test samples")
      ->check(whole_number(1, 10'000'000))
      ->type_name("N");
  shapes->add_option("--seed", flags->options.seed, "seed of the drawings")
      ->check(whole_number(0))
      ->type_name("N");
  const CLI::App* const packing = add_pack(app, flags->pack);
  const CLI::App* const reading = add_read(app, flags->read);
  const CLI::App* const getting = add_get(app, flags->get);
  action = [flags, packing, reading, getting, context] {
    if (getting->parsed()) return get(flags->get, context.messages);
    if (packing->parsed()) return pack(flags->pack);
    if (reading->parsed()) return read(flags->read);
    flags->options.threads = available_cores();
    make_shapes(flags->destination, flags->options);
    std::printf("%s: %lld training and %lld test samples of 10 classes\n",
                flags->destination.c_str(), static_cast<long long>(flags->options.train),
                static_cast<long long>(flags->options.test));
    return 0;
  };
}

}  // namespace trainyard::cli
