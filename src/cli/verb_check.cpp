#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/text.h"
#include "cli/run_flags.h"
#include "cli/verbs.h"
#include "run/resolved_config.h"
#include "run/training_run.h"

namespace trainyard::cli {
namespace {

/// One batch forward and backward, without an update.
double loss_of_one_batch(Session& session) {
  Model& model = session.model();
  model.initialize(static_cast<std::uint64_t>(session.config().seed));
  session.updater().prepare();
  session.updater().begin();
  session.data().train_feeder->start(0);
  model.load(session.data().train_feeder->next());
  model.place_training_images();
  if (const auto culprit = model.train().run_checked(model.compute().queue)) {
    throw Error(ErrorKind::diverged, culprit->where.text() + ": layer '" + culprit->path +
                                         "': its " + culprit->what +
                                         " is not finite in the first batch");
  }
  model.add_results(model.train());
  const Totals totals = model.take_totals();
  return totals.loss / static_cast<double>(totals.samples);
}

int check(const RunFlags& flags) {
  RunConfig config = read_config(flags);
  std::fputs(resolved_yaml(config).c_str(), stdout);
  RankGroup alone({});
  Session session(std::move(config), device_choice(flags), nullptr, alone);
  const BatchNumbers& batch = session.batch();
  const double loss = loss_of_one_batch(session);
  std::printf("# %lld training and %lld validation samples of %lld classes\n",
              static_cast<long long>(session.data().train->size()),
              static_cast<long long>(session.data().val->size()),
              static_cast<long long>(session.data().train->classes()));
  std::printf("# global batch %lld, %lld steps an epoch, %lld samples dropped\n",
              static_cast<long long>(batch.global), static_cast<long long>(batch.steps),
              static_cast<long long>(batch.dropped));
  std::printf("# batches are made %s\n",
              session.data().resident_train ? "on the device" : "by the host");
  std::printf("# %s\n", text_of(forecast(session.model().programs())).c_str());
  std::printf("# one batch forward and backward: loss %s\n# all is well; nothing was written\n",
              fixed_text(loss, 4).c_str());
  return 0;
}

}  // namespace

void declare_check(CLI::App& app, const Surroundings&, Action& action) {
  auto flags = std::make_shared<RunFlags>();  // shared with the action, which outlives parsing
  add_run_flags(app, *flags);
  action = [flags] { return check(*flags); };
}

}  // namespace trainyard::cli
