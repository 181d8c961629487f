#include "analysis/curve_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/output_place.h"
#include "base/text.h"
#include "report/plot_script.h"

namespace trainyard {

namespace {

constexpr int kWidth = 1280, kPanelHeight = 300, kHeadHeight = 60;  // pixels

std::string block_name(std::size_t panel, std::size_t curve) {
  return fmt::format("$panel{}_{}", panel, curve);
}

/// At most about `most` points, the means of stretches of equal length.
std::vector<PlotPoint> thinned(const std::vector<PlotPoint>& points, std::size_t most) {
  const std::size_t width = (points.size() + most - 1) / most;
  if (width <= 1) return points;
  std::vector<PlotPoint> means;
  for (std::size_t begin = 0; begin < points.size(); begin += width) {
    const std::size_t count = std::min(width, points.size() - begin);
    PlotPoint mean;
    for (std::size_t i = 0; i < count; ++i) {
      mean.x += points[begin + i].x / static_cast<double>(count);
      mean.y += points[begin + i].y / static_cast<double>(count);
    }
    means.push_back(mean);
  }
  return means;
}

std::string data_blocks(const CurvePlot& plot) {
  constexpr std::size_t kMostPoints = 2000;
  std::string text;
  for (std::size_t p = 0; p < plot.panels.size(); ++p) {
    for (std::size_t c = 0; c < plot.panels[p].curves.size(); ++c) {
      text += block_name(p, c) + " << END\n";
      for (const PlotPoint& point : thinned(plot.panels[p].curves[c].points, kMostPoints)) {
        text += number_text(point.x) + " " + number_text(point.y) + "\n";
      }
      text += "END\n";
    }
  }
  return text;
}

std::string line_of(const CurveStyle& style) {
  const std::string colour(gnuplot_colour(style.colour));
  switch (style.line) {
    case CurveStyle::Line::solid:
      return "linewidth 2.2 linecolor rgb '" + colour + "'";
    case CurveStyle::Line::dashed:
      return "linewidth 1.8 dashtype 2 linecolor rgb '" + colour + "'";
    case CurveStyle::Line::faint:  // less than half of the colour
      return "linewidth 1 linecolor rgb '#90" + colour.substr(1) + "'";
  }
  return "";
}

/// The position of the panels, as fractions of the plot.
struct Grid {
  std::size_t columns = 1, rows = 1;
  double right = 1;         // where the panels end
  int height = 0;           // height of the plot, pixels
  bool place_left = false;  // for the legend, after the last panel; else it is on the right
};

Grid grid_of(const CurvePlot& plot) {
  constexpr double kSample = 0.05, kLetter = 0.0068;  // a legend's sizes, measured
  constexpr std::size_t kMostEntries = 13;            // a legend of these is as high as a panel
  Grid grid;
  grid.columns = plot.panels.size() > 1 ? 2 : 1;
  grid.rows = (plot.panels.size() + grid.columns - 1) / grid.columns;
  grid.height = kHeadHeight + kPanelHeight * static_cast<int>(std::max<std::size_t>(grid.rows, 2));
  grid.place_left =
      plot.panels.size() < grid.columns * grid.rows && plot.legend.size() <= kMostEntries;
  int longest = 0;
  for (const LegendEntry& entry : plot.legend) {
    longest = std::max(longest, columns_of(entry.label));
  }
  grid.right = plot.legend.empty() || grid.place_left
                   ? 0.98
                   : std::clamp(0.98 - kSample - kLetter * longest, 0.5, 0.9);
  return grid;
}

constexpr double kLeft = 0.085;  // width of ticks and a label beside a panel

struct Box {
  double left = 0, right = 0, top = 0, bottom = 0;
};

Box box_of(const Grid& grid, std::size_t panel) {
  constexpr double kGap = 0.01;  // between a panel and the label of the next one
  const double top = 1 - 1.1 * kHeadHeight / grid.height, bottom = 60.0 / grid.height;
  const double gap_y = 55.0 / grid.height;
  const double row = static_cast<double>(panel / grid.columns);
  const double column = static_cast<double>(panel % grid.columns);
  const double columns = static_cast<double>(grid.columns), rows = static_cast<double>(grid.rows);
  const double width = (grid.right - (kLeft + kGap) * columns) / columns;
  const double height = (top - bottom - gap_y * (rows - 1)) / rows;
  const double left = kLeft + column * (width + kLeft + kGap);
  const double above = top - row * (height + gap_y);
  return {left, left + width, above, above - height};
}

std::string margins(const Box& box) {
  return fmt::format(
      "set lmargin at screen {:.4f}\nset rmargin at screen {:.4f}\n"
      "set tmargin at screen {:.4f}\nset bmargin at screen {:.4f}\n",
      box.left, box.right, box.top, box.bottom);
}

/// At a fixed place: beside wide ticks gnuplot would put it outside the plot.
std::string y_label(const Box& box, const std::string& label) {
  return fmt::format(
      "set label 3 {} at screen {:.4f}, screen {:.4f} center rotate by 90 textcolor rgb "
      "'#555555'\n",
      gnuplot_text(label), box.left - kLeft + 0.012, (box.top + box.bottom) / 2);
}

/// Where the legend begins.
std::string legend_place(const CurvePlot& plot, const Grid& grid) {
  const Box place = box_of(grid, plot.panels.size());
  return fmt::format(
      "set key at screen {:.4f}, screen {:.4f} left top reverse Left spacing 1.2 samplen 2\n",
      grid.place_left ? place.left : grid.right + 0.005,
      grid.place_left ? place.top : 1 - 1.1 * kHeadHeight / grid.height);
}

/// In the first panel: a curve without points for each entry.
std::string legend_curves(const CurvePlot& plot) {
  std::string text;
  for (const LegendEntry& entry : plot.legend) {
    text += ", \\\n  $nothing using 1:2 with lines " + line_of(entry.style) + " title " +
            gnuplot_text(entry.label);
  }
  return text;
}

std::string mark_text(const std::optional<PlotMark>& mark) {
  if (!mark) return "unset arrow 1\nunset label 1\n";
  const std::string at = number_text(mark->x);
  return "set arrow 1 from first " + at + ", graph 0 to first " + at +
         ", graph 1 nohead dashtype 2 linewidth 1.5 linecolor rgb '#555555'\n"
         "set label 1 " +
         gnuplot_text(mark->label) + " at first " + at +
         ", graph 1 offset 0,0.7 center textcolor rgb '#555555'\n";
}

std::string panel_text(const CurvePlot& plot, const Grid& grid, std::size_t index) {
  const PlotPanel& panel = plot.panels[index];
  const bool lowest = index + grid.columns >= plot.panels.size();
  const Box box = box_of(grid, index);
  std::string text = margins(box) + mark_text(panel.mark) + y_label(box, panel.label);
  text += lowest ? "set xlabel " + gnuplot_text(plot.x_label) + " textcolor rgb '#555555'\n"
                 : "unset xlabel\n";
  text += panel.from_zero ? "set yrange [0:*]\n" : "set yrange [*:*]\n";
  text += index == 0 ? legend_place(plot, grid) : "unset key\n";
  text += "plot $nothing using 1:2 with lines notitle";
  for (std::size_t c = 0; c < panel.curves.size(); ++c) {
    const bool dot = panel.curves[c].points.size() == 1;
    text += ", \\\n  " + block_name(index, c) + " using 1:2 with " +
            (dot ? "points pointtype 7 " : "lines ") + line_of(panel.curves[c].style) + " notitle";
  }
  return text + (index == 0 ? legend_curves(plot) : "") + "\n";
}

/// The distance of ticks for epochs and steps: 1, 2, 5, 10, ..., about eight of them.
double whole_tick(double span) {
  double tick = 1;
  for (std::size_t i = 0; span > 10 * tick; ++i) tick *= i % 3 == 1 ? 2.5 : 2;
  return tick;
}

/// The x axis is the same in all panels.
std::string x_range(const CurvePlot& plot) {
  double least = INFINITY, most = -INFINITY;
  for (const PlotPanel& panel : plot.panels) {
    for (const PlotCurve& curve : panel.curves) {
      for (const PlotPoint& point : curve.points) {
        least = std::min(least, point.x);
        most = std::max(most, point.x);
      }
    }
  }
  if (plot.log_x) {
    return "set logscale x\nset format x '%.0e'\nset xrange [" + number_text(least) + ":" +
           number_text(most) + "]\n";
  }
  const double margin = most > least ? 0.02 * (most - least) : 0.5;
  return "set xtics " + number_text(whole_tick(most - least)) + "\nset xrange [" +
         number_text(least - margin) + ":" + number_text(most + margin) + "]\n";
}

}  // namespace

std::string curve_script(const CurvePlot& plot, const fs::path& output) {
  const Grid grid = grid_of(plot);
  std::string text = "if (!exists(\"prefix\")) prefix = ''\nset encoding utf8\n";
  text += "$nothing << END\n0 NaN\nEND\n" + data_blocks(plot);
  text += gnuplot_output(output, kWidth, grid.height) + std::string(gnuplot_look()) +
          "set format y '%.4g'\n";
  text += x_range(plot) + "set offsets graph 0, graph 0, graph 0.05, graph 0\n";
  text += "set multiplot title " + gnuplot_text(plot.title) + " noenhanced font ',16'\n";
  for (std::size_t i = 0; i < plot.panels.size(); ++i) text += panel_text(plot, grid, i);
  return text + "unset multiplot\nunset output\n";
}

std::vector<PlotPoint> smoothed(std::vector<PlotPoint> values, double factor) {
  double mean = 0, weight = 0;
  for (PlotPoint& point : values) {
    mean = factor * mean + (1 - factor) * point.y;
    weight = factor * weight + (1 - factor);
    point.y = mean / weight;
  }
  return values;
}

void check_curve_output(const fs::path& output, bool has_gnuplot) {
  const auto refuse = [](const std::string& text) { refuse_command("--output: " + text); };
  std::error_code ignored;
  const std::string ending = lower_case(output.extension().string());
  const bool stream = output_place(output).is_stream();
  if (ending != ".png" && ending != ".svg" && ending != ".pdf" && !stream) {
    refuse("'" + output.string() + "' ends neither in .png, .svg nor .pdf");
  }
  const fs::path folder = output.parent_path();
  if (!folder.empty() && !fs::is_directory(folder, ignored)) {
    refuse("the folder '" + folder.string() + "' does not exist; create it first");
  }
  if (!has_gnuplot) {
    refuse("gnuplot was not found, which draws the plot; install it (apt-get install gnuplot-nox)");
  }
}

}  // namespace trainyard
