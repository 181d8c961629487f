// A session trained to the end.
#pragma once

#include <optional>

#include "plain_host.h"
#include "report/metrics.h"
#include "run/session/session.h"
#include "train/evaluator.h"
#include "train/trainer.h"

namespace trainyard::test {

/// Trains all epochs of the session's run on the one rank of `alone`, and saves nothing.
inline void train_to_end(Session& session, RankGroup& alone) {
  NullSink sink;
  PlainHost host;
  Trainer trainer({.step = session.step(),
                   .train = *session.data().train_feeder,
                   .val = *session.data().val_feeder,
                   .sink = sink,
                   .ranks = alone,
                   .host = host},
                  {.epochs = session.batch().epochs}, {});
  static_cast<void>(trainer.run());
}

/// Totals of the validation split.
[[nodiscard]] inline Totals evaluation_of(Session& session) {
  const auto alone = make_single_communicator();
  return Evaluator(session.model(), *session.data().val_feeder, *alone).run();
}

}  // namespace trainyard::test
