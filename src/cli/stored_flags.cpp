#include "cli/stored_flags.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "base/error.h"
#include "cli/checks.h"
#include "cli/messages.h"
#include "cli/named_run.h"

namespace trainyard::cli {
namespace {

StoredModel open_model(const StoredFlags& flags,
                       const std::function<void(const std::string&)>& warn) {
  StoredModel stored = open_stored_model(flags.path, overrides_of(flags.run), warn);
  if (flags.run.threads > 0) settle_threads(stored.config, flags.run.threads);
  return stored;
}

void work_on_rank(const StoredFlags& flags, const Context& own,
                  const std::function<void(StoredWork&)>& work) {
  Messages& messages = own.messages;
  const bool speaks = own.identity.rank == 0;
  const auto warn = [&messages](const std::string& text) { messages.warn(text); };
  const auto warn_once = [&](const std::string& text) {
    if (speaks) messages.warn(text);
  };
  StoredModel stored = open_model(flags, warn_once);
  RankGroup ranks(rank_group_options(own.identity, stored.config.limits, messages));
  DeviceChoice device = device_in_group(flags.run, flags.spawn, ranks);
  device.warn = warn;
  try {
    StoredWork rank{.stored = stored,
                    .ranks = ranks,
                    .device = std::move(device),
                    .opening = {.seed = static_cast<std::uint64_t>(stored.config.seed),
                                .cache_folder = cache_folder(),
                                .warn = warn,
                                .division = recorded_division(stored.run)}};
    work(rank);
    ranks.sign_off();
  } catch (const Error& error) {
    throw first_of_ranks(ranks, error);
  }
}

}  // namespace

void add_stored_flags(CLI::App& app, StoredFlags& flags, const Context& context) {
  add_run(app, "run", flags.path,
          "run folder, for its best weights, or runs/NAME, for the newest run there; or a "
          "checkpoint in one: its folder, the file checkpoints/best or checkpoints/last, or "
          "a .safetensors file",
          context)
      ->required()
      ->type_name("RUN|CHECKPOINT");
  add_count(app, "--batch", flags.batch,
            "batch size, whatever the number of ranks; without it the run's", 1, 1'000'000)
      ->default_str("");
  add_device_flags(app, flags.run);
  add_host_flags(app, flags.spawn);
}

CLI::Option* add_tta(CLI::App& app, ViewSet& views) {
  auto* const option = app.add_option_function<std::string>(
      "--tta",
      [&views](const std::string& word) {
        views = word == config::word_of(ViewSet::flip) ? ViewSet::flip : ViewSet::shifts;
      },
      "test-time augmentation of images: the mean of what the network gives, before a closing "
      "softmax or sigmoid, over the image and its mirror image (flip), or over six views, some "
      "shifted by a pixel (shifts)");
  take_one_of(option, {"flip", "shifts"});
  return option;
}

int with_stored_model(const StoredFlags& flags, const Context& context,
                      const std::function<void(StoredWork&)>& work,
                      const std::function<void()>& before) {
  const SpawnSteps plan{.check = [&] {
    static_cast<void>(open_model(flags, [](const std::string&) {}));
    before();
  }};
  return in_ranks(flags.run, flags.spawn, context, plan, [&](const Context& own) {
    work_on_rank(flags, own, work);
    return 0;
  });
}

}  // namespace trainyard::cli
