#include "analysis/run_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "config/diagnostics.h"
#include "config/node.h"
#include "run/config/batch_numbers.h"

namespace trainyard {

namespace {

using Words = std::vector<std::string>;

/// The tables of a run that curves are drawn from.
struct RunTables {
  const CsvTable& epochs;
  CsvTable steps;
};

bool has_values(const CsvTable& table, const std::string& column) {
  const auto values = table.values(column);
  return std::ranges::any_of(values, [](const auto& value) { return value.has_value(); });
}

std::vector<PlotPoint> points_of(const CsvTable& table, const std::string& x,
                                 const std::string& y) {
  const auto xs = table.values(x), ys = table.values(y);
  std::vector<PlotPoint> points;
  for (std::size_t i = 0; i < std::min(xs.size(), ys.size()); ++i) {
    if (xs[i] && ys[i]) points.push_back({*xs[i], *ys[i]});
  }
  return points;
}

class Curves {
 public:
  Curves(std::span<const RecordedRun> runs, const CurveChoice& choice)
      : runs_(runs), choice_(choice) {
    for (const RecordedRun& run : runs) tables_.push_back(tables_of(run));
  }

  [[nodiscard]] CurvePlot plot() const {
    CurvePlot plot{.title = title(), .x_label = choice_.steps ? "step" : "epoch"};
    plot.legend = legend();
    for (const std::string& column : columns()) {
      PlotPanel panel = panel_of(column);
      if (!panel.curves.empty()) plot.panels.push_back(std::move(panel));
    }
    if (!plot.panels.empty()) return plot;
    throw data_error(runs_.size() == 1
                         ? "'" + runs_[0].folder.string() + "' has no finished epoch to draw"
                         : "none of the " + std::to_string(runs_.size()) +
                               " runs has a finished epoch to draw");
  }

 private:
  [[nodiscard]] RunTables tables_of(const RecordedRun& run) const {
    RunTables tables{.epochs = run.epochs, .steps = {}};
    if (!choice_.steps) return tables;
    tables.steps = read_csv_table(run.folder / "steps.csv");
    if (!tables.steps.columns.empty()) return tables;
    throw data_error("--steps: '" + run.folder.string() +
                     "' has no steps.csv; runs with --set output.steps=true write it");
  }

  [[nodiscard]] std::string title() const {
    if (!choice_.title.empty()) return choice_.title;
    return runs_.size() == 1 ? runs_[0].folder.string() : std::to_string(runs_.size()) + " runs";
  }

  /// Colours tell the splits of one run apart, or several runs.
  [[nodiscard]] CurveStyle style(std::size_t run, bool validation) const {
    using Line = CurveStyle::Line;
    if (runs_.size() == 1) return {.line = Line::solid, .colour = validation ? 1U : 0U};
    return {.line = validation ? Line::solid : Line::dashed, .colour = run};
  }

  [[nodiscard]] std::vector<LegendEntry> legend() const {
    if (runs_.size() == 1) return {{"training", style(0, false)}, {"validation", style(0, true)}};
    std::vector<LegendEntry> entries;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      entries.push_back({runs_[i].folder.string(), style(i, true)});
    }
    constexpr std::size_t kGrey = 3;
    entries.push_back({"(dashed: training)", {CurveStyle::Line::dashed, kGrey}});
    return entries;
  }

  /// The panels' columns. Throws for one that no run has.
  [[nodiscard]] Words columns() const {
    if (choice_.columns.empty()) {
      return {"loss", "accuracy", "lr", "images_per_s", "grad_norm"};
    }
    for (const std::string& column : choice_.columns) require_column(column);
    return choice_.columns;
  }

  void require_column(const std::string& column) const {
    Words known;
    for (const RunTables& tables : tables_) {
      for (const CsvTable* table : {&tables.epochs, &tables.steps}) {
        if (table->find(column)) return;
        known.insert(known.end(), table->columns.begin(), table->columns.end());
      }
    }
    if (known.empty()) return;  // no run has finished an epoch
    std::ranges::sort(known);
    known.erase(std::unique(known.begin(), known.end()), known.end());
    refuse_command("--curves: no run has a column '" + column + "'" +
                   config::suggestion(column, known) + " (known: " + joined(known) + ")");
  }

  [[nodiscard]] PlotPanel panel_of(const std::string& column) const {
    PlotPanel panel{.label = column == "images_per_s" ? "images/s" : column,
                    .curves = {},
                    .from_zero = column == "lr" || column == "images_per_s"};
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      const RunTables& tables = tables_[run];
      const bool by_step = choice_.steps && has_values(tables.steps, column);
      const std::string x = choice_.steps ? "step" : "epoch";
      // What is measured once is no matter of a split: the colour of the run itself.
      const bool twin = tables.epochs.find("val_" + column).has_value();
      const double smooth = column == "lr" ? 0 : choice_.smooth;  // a schedule has no noise
      add(panel, points_of(by_step ? tables.steps : tables.epochs, x, column),
          style(run, !twin && runs_.size() > 1), smooth);
      add(panel, points_of(tables.epochs, x, "val_" + column), style(run, true), smooth);
    }
    return panel;
  }

  static void add(PlotPanel& panel, std::vector<PlotPoint> points, const CurveStyle& style,
                  double smooth) {
    if (points.empty()) return;
    if (smooth > 0) {
      panel.curves.push_back({{CurveStyle::Line::faint, style.colour}, points});
    }
    panel.curves.push_back({style, smoothed(std::move(points), smooth)});
  }

  std::span<const RecordedRun> runs_;
  const CurveChoice& choice_;
  std::vector<RunTables> tables_;
};

}  // namespace

CurvePlot run_curves(std::span<const RecordedRun> runs, const CurveChoice& choice) {
  return Curves(runs, choice).plot();
}

namespace {

struct KnownSet {
  std::string_view source;
  std::int64_t samples;  // size of its training split
};

constexpr std::array<KnownSet, 5> kKnownSets = {{{"cifar10", 50'000},
                                                 {"cifar100", 50'000},
                                                 {"mnist", 60'000},
                                                 {"fashion_mnist", 60'000},
                                                 {"imdb", 25'000}}};

std::optional<std::int64_t> whole_set(const RunConfig& run) {
  const auto key = [&](const char* name) {
    return config::value_at(run.settled, std::string("data.train.") + name);
  };
  const std::string source = key("source");
  if (source.starts_with("synthetic")) return parse_integer(key("size"));
  const auto* set = std::ranges::find(kKnownSets, source, &KnownSet::source);
  if (set == kKnownSets.end() || key("split") != "train") return std::nullopt;
  const std::int64_t limit = parse_integer(key("limit")).value_or(0);
  return limit > 0 ? std::min(limit, set->samples) : set->samples;
}

}  // namespace

std::optional<std::int64_t> expected_samples(const RunConfig& run) {
  const auto samples = whole_set(run);
  if (!samples || !run.data.val_fraction) return samples;
  return *samples -
         static_cast<std::int64_t>(static_cast<double>(*samples) * *run.data.val_fraction);
}

CurvePlot schedule_curve(const RunConfig& run, std::int64_t ranks, std::int64_t samples) {
  const BatchNumbers batch = batch_numbers(run, ranks, samples);
  PlotCurve curve;
  constexpr std::int64_t kMostPoints = 2000;  // more than the plot has columns
  for (const RatePoint& point : scheduled_rates(run, batch, kMostPoints)) {
    const auto done = static_cast<double>(point.step - 1);
    curve.points.push_back({done / static_cast<double>(batch.steps), point.rate});
  }
  return {.title = fmt::format("{}: {} of {}", run.name, count_text(batch.epochs, "epoch"),
                               count_text(batch.steps, "step")),
          .x_label = "epoch",
          .panels = {{.label = "learning rate", .curves = {curve}, .from_zero = true}}};
}

}  // namespace trainyard
