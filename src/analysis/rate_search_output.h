// Output of `train find-lr`: a table, a CSV, a plot.
#pragma once

#include <string>

#include "analysis/curve_plot.h"
#include "formats/json.h"
#include "run/rate_search.h"

namespace trainyard {

/// step, lr, loss, smoothed_loss.
[[nodiscard]] std::string rate_search_csv(const RateSearch& search);
/// The loss against the learning rate, with the suggested one marked.
[[nodiscard]] CurvePlot rate_search_plot(const RateSearch& search, const std::string& name);
/// For people: how far the test came, and what it suggests for `key`, "optimizer.sgd.lr".
[[nodiscard]] std::string rate_search_text(const RateSearch& search, const std::string& key);
/// {"steps", "diverged", "lowest", "steepest", "suggested", "key"}; null: it never fell.
[[nodiscard]] Json rate_search_json(const RateSearch& search, const std::string& key);

}  // namespace trainyard
