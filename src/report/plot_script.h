// The gnuplot scripts of a run: what is drawn, and how it looks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

/// What the pictures of a run show.
struct PlotContent {
  std::string title;  // any text
  /// Columns of metrics.csv in the second panel, each with its val_ twin; none: no second panel.
  std::vector<std::string> metrics = {"accuracy"};
  bool steps = false;  // steps.csv is written: loss and rate are drawn from it too
  bool guide = false;  // loss and accuracy in one panel, with the legend of the Keras guide
};

/// As a gnuplot text: in single quotes nothing but a quote is special. Control characters would end
/// the line and become blanks.
[[nodiscard]] std::string gnuplot_text(const std::string& text);
/// What all pictures share: plane, grid, colours of the frame.
[[nodiscard]] std::string_view gnuplot_look();

/// Loss and metrics of both splits against epochs, from ../metrics.csv to curves.png and
/// curves.svg. The script stays beside its pictures and runs there by itself: `gnuplot curves.gp`.
/// If the variable `prefix` is set, the pictures' names get it. An axis of losses ends where its
/// values can be read, and says so, when some are more than ten times what the run began with.
[[nodiscard]] std::string curves_script(const PlotContent& content);

/// The learning rate against steps, to lr.png and lr.svg.
[[nodiscard]] std::string rate_script(const PlotContent& content);

}  // namespace trainyard
