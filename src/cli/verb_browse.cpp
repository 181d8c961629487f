#include <CLI/CLI.hpp>
#include <memory>

#include "base/atomic_file.h"
#include "cli/checks.h"
#include "cli/output.h"
#include "cli/run_flags.h"
#include "cli/verbs.h"
#include "data/images/image_sheet.h"
#include "run/browse.h"

namespace trainyard::cli {
namespace {

struct BrowseFlags {
  RunFlags run;
  BrowseOptions options;
  std::int64_t epoch = 1;
  std::string output = "browse.png";
};

int browse_run(const BrowseFlags& flags) {
  const std::string place = place_for("--output", flags.output);
  const RunConfig run = read_config(flags.run);
  BrowseOptions options = flags.options;
  options.epoch = static_cast<std::uint32_t>(flags.epoch - 1);
  const BrowsedSamples browsed = browse(run, options, static_cast<int>(run.threads),
                                        {.seed = static_cast<std::uint64_t>(run.seed),
                                         .cache_folder = cache_folder(),
                                         .warn = print_warning});
  Disk().write_output(place, png_of_image(browsed.sheet));
  print(flags.output + ": " + std::to_string(browsed.sheet.size().w) + " x " +
        std::to_string(browsed.sheet.size().h) + " pixels\n" + browsed.facts + "\n");
  return 0;
}

}  // namespace

void declare_browse(CLI::App& app, const Context& context, Action& action) {
  auto flags = std::make_shared<BrowseFlags>();  // shared with the action, which outlives parsing
  add_run_flags(app, flags->run, context);
  app.add_flag("--val", flags->options.val, "validation samples instead of training samples");
  add_count(app, "--samples", flags->options.samples, "rows: the first samples of the epoch", 1,
            1000);
  add_count(app, "--draws", flags->options.draws, "columns: number of epochs to show", 1, 100);
  add_count(app, "--epoch", flags->epoch, "the first of these epochs, from 1", 1, 1'000'000);
  add_count(app, "--side", flags->options.most_side, "maximum side of an image, in pixels", 128,
            4096);
  add_output(app, "-o,--output", flags->output, "the PNG file");
  action = [flags] { return browse_run(*flags); };
}

}  // namespace trainyard::cli
