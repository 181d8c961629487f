// The gnuplot scripts of a run: the content and style of its plots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/filesystem.h"

namespace trainyard {

/// The learning rate of a step, counted from 1.
struct RatePoint {
  std::int64_t step = 1;
  double rate = 0;
};

/// The content of a run's plots.
struct PlotContent {
  std::string title;  // any text
  /// Columns of metrics.csv in the second panel, each with its val_ twin; none: no second panel.
  std::vector<std::string> metrics = {"accuracy"};
  bool steps = false;  // steps.csv is written: loss and learning rate are drawn from it too
  bool clean = false;  // metrics.csv has clean_ columns, in some of its rows
  std::vector<RatePoint> schedule;  // rates of the whole run; none: the rates of its rows alone
  bool guide = false;  // loss and accuracy in one panel, with the legend of the Keras guide
};

/// As a gnuplot string in single quotes, in which only a quote is special. Control characters,
/// which would end the line, become blanks.
[[nodiscard]] std::string gnuplot_text(const std::string& text);
/// A colour of curves, '#E24A33'; those of an index beyond the last one repeat.
[[nodiscard]] std::string_view gnuplot_colour(std::size_t index);
/// The commands that draw to `output` in the folder where gnuplot runs, with the variable `prefix`
/// before its name: PNG, SVG or PDF by its ending. In pixels, of which a PDF has 96 per inch.
[[nodiscard]] std::string gnuplot_output(const fs::path& output, int width, int height);
/// The style shared by all plots: background, grid, frame colours.
[[nodiscard]] std::string_view gnuplot_look();

/// Loss and metrics of both splits against epochs, from ../metrics.csv to curves.png and
/// curves.svg. The script is stored next to its plots and can be run there: `gnuplot curves.gp`.
/// The variable `prefix`, if set, is prepended to the plots' names. If some losses are more than
/// ten times the initial one, the axis is cut so that the others remain readable, and labelled so.
[[nodiscard]] std::string curves_script(const PlotContent& content);

/// The learning rate against steps, to lr.png and lr.svg: the schedule of the whole run, and over
/// it what the tables have.
[[nodiscard]] std::string rate_script(const PlotContent& content);

}  // namespace trainyard
