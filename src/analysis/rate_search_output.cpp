#include "analysis/rate_search_output.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/csv_file.h"

namespace trainyard {

namespace {

/// Few enough digits to type: what follows is noise.
std::string rate_text(double rate) { return fmt::format("{:.2g}", rate); }

/// The points of a loss up to where the smoothed one has risen far above its first value, without
/// single ones that are as high: they would flatten the rest.
std::vector<PlotPoint> shown_points(const RateSearch& search, double RateChange::*loss) {
  std::vector<PlotPoint> points;
  for (const RateChange& step : search.steps) {
    const double most = 1.5 * search.steps.front().smoothed;
    if (step.smoothed > most && most > 0) break;
    if (step.*loss <= most || most <= 0) points.push_back({step.rate, step.*loss});
  }
  return points;
}

}  // namespace

std::string rate_search_csv(const RateSearch& search) {
  std::string text = "step,lr,loss,smoothed_loss\n";
  for (const RateChange& step : search.steps) {
    text += CsvRow().add(step.step).add(step.rate).add(step.loss).add(step.smoothed).text();
  }
  return text;
}

CurvePlot rate_search_plot(const RateSearch& search, const std::string& name) {
  const CurveStyle faint{CurveStyle::Line::faint, 0}, solid{CurveStyle::Line::solid, 0};
  PlotPanel panel{.label = "loss",
                  .curves = {{faint, shown_points(search, &RateChange::loss)},
                             {solid, shown_points(search, &RateChange::smoothed)}}};
  if (search.suggested) {
    panel.mark = {.x = *search.suggested, .label = "suggested: " + rate_text(*search.suggested)};
  }
  return {.title = name + ": loss while the learning rate grows",
          .x_label = "learning rate",
          .log_x = true,
          .legend = {{"of a batch", faint}, {"smoothed", solid}},
          .panels = {std::move(panel)}};
}

std::string rate_search_text(const RateSearch& search, const std::string& key) {
  if (search.steps.empty()) return "the loss was not finite at the first step\n";
  std::string text =
      fmt::format("{}, learning rate {} to {}{}\n", count_text(std::ssize(search.steps), "step"),
                  rate_text(search.steps.front().rate), rate_text(search.steps.back().rate),
                  search.diverged ? ", where the loss diverged" : "");
  if (!search.suggested) {
    return text + "the loss never fell: no rate is suggested; try a smaller --from\n";
  }
  text += "the smoothed loss was lowest at " + rate_text(*search.lowest) + " and fell fastest at " +
          rate_text(*search.steepest);
  return text + "\nsuggested: --set " + key + "=" + rate_text(*search.suggested) + "\n";
}

Json rate_search_json(const RateSearch& search, const std::string& key) {
  return {{"steps", search.steps.size()},
          {"diverged", search.diverged},
          {"lowest", number_or_null(search.lowest)},
          {"steepest", number_or_null(search.steepest)},
          {"suggested", number_or_null(search.suggested)},
          {"key", key}};
}

}  // namespace trainyard
