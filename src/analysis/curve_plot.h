// Panels of curves as plain data, and the gnuplot script that draws them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/filesystem.h"

namespace trainyard {

struct PlotPoint {
  double x = 0, y = 0;
  bool operator==(const PlotPoint&) const = default;
};

struct CurveStyle {
  enum class Line { solid, dashed, faint } line = Line::solid;
  std::size_t colour = 0;  // see gnuplot_colour()
};

/// A line through points in the order of x; one point alone is a dot.
struct PlotCurve {
  CurveStyle style;
  std::vector<PlotPoint> points;
};

/// A dashed vertical line, "lr 0.01", over a panel.
struct PlotMark {
  double x = 0;
  std::string label;
};

struct PlotPanel {
  std::string label;  // the y axis's
  std::vector<PlotCurve> curves;
  bool from_zero = false;  // the y axis begins at 0
  std::optional<PlotMark> mark = {};
};

struct LegendEntry {
  std::string label;
  CurveStyle style;
};

struct CurvePlot {
  std::string title;
  std::string x_label;
  bool log_x = false;  // all x are above 0
  std::vector<LegendEntry> legend;
  std::vector<PlotPanel> panels;  // at least one
};

/// The script with its data, for draw_plot(): two panels in a row, the legend in the place
/// after the last one, else on the right. A
/// curve of more than 2000 points is drawn through the means of as many stretches.
[[nodiscard]] std::string curve_script(const CurvePlot& plot, const fs::path& output);

/// `values` without noise, as TensorBoard smooths: the mean of all values so far, each weighing
/// `factor` (0 to below 1) times what the next one weighs. 0: as they are.
[[nodiscard]] std::vector<PlotPoint> smoothed(std::vector<PlotPoint> values, double factor);

/// Checks `output` before anything is read. Throws Error{command_line} if it is a file that ends
/// neither in .png, .svg nor .pdf, or if its folder or gnuplot is missing. A stream gets a PNG.
void check_curve_output(const fs::path& output, bool has_gnuplot);

}  // namespace trainyard
