#include "report/plot_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace trainyard {

namespace {

/// Grey background, white grid, no frame, as in matplotlib's "ggplot" style.
constexpr std::string_view kLook =
    R"(set object 1 rectangle from graph 0,0 to graph 1,1 behind fillcolor rgb '#e5e5e5' fillstyle solid noborder
set border 0
set grid xtics ytics back linetype 1 linewidth 1.2 linecolor rgb '#ffffff'
set tics scale 0.6 nomirror out textcolor rgb '#555555'
)";

constexpr std::string_view kStart = R"(if (!exists("prefix")) prefix = ''
set encoding utf8
set datafile separator comma
finite(name) = (value = column(name), abs(value) < 1e300 ? value : NaN)
)";

/// Points mark the epochs if there are few. Rows without a number leave a gap.
constexpr std::string_view kEpochs = R"(stats '../metrics.csv' using "epoch" name 'epochs' nooutput
points = epochs_records > 30 ? 0 : 0.7
margin = epochs_max - epochs_min > 10 ? 0.05 * (epochs_max - epochs_min) : 0.5
set xrange [epochs_min - margin : epochs_max + margin]
if (epochs_records <= 12) set xtics 1
set offsets graph 0, graph 0, graph 0.05, graph 0
)";

/// The loss axis begins at 0, or below it if there are negative values. If some values are above
/// ten times `usual`, the initial or typical loss, it is cut: they would flatten the others to a
/// line.
constexpr std::string_view kLossRange =
    R"(usual = 0
most = exists("of_steps_max") ? of_steps_max : 0
least = 0
do for [name in "loss val_loss"] {
  undefine losses_*
  stats '../metrics.csv' using (finite(name)) name 'losses' nooutput
  if (exists("losses_records")) {
    if (losses_lo_quartile > usual) { usual = losses_lo_quartile }
    if (losses_max > most) { most = losses_max }
    if (losses_min < least) { least = losses_min }
  }
}
stats '../metrics.csv' using (column("epoch") == epochs_min ? finite("loss") : NaN) name 'first' nooutput
if (exists("first_max") && first_max > usual) usual = first_max
set yrange [0:*]
if (least < 0) set yrange [*:*]
if (least == 0 && most == 0) set yrange [0:1]
if (usual > 0 && most > 10 * usual) {
  set yrange [0 : 3 * usual]
  set label 2 sprintf("cut: values\nup to %.3g", most) at graph 1.03, graph 0.12 left textcolor rgb '#555555'
}
)";

/// A dashed line through all panels, labelled above the first.
constexpr std::string_view kBest =
    R"(stats '../metrics.csv' using (column("is_best") == 1 ? column("epoch") : NaN) name 'best' nooutput
if (exists("best_max")) {
  set arrow 1 from first best_max, graph 0 to first best_max, graph 1 nohead dashtype 2 linewidth 1.5 linecolor rgb '#555555'
  set label 1 sprintf('best: epoch %.0f', best_max) at first best_max, graph 1 offset 0,0.7 center textcolor rgb '#555555'
}
)";

/// Steps on the epoch axis: each point is the mean of `width` steps.
constexpr std::string_view kSteps =
    R"(stats '../metrics.csv' using "step" name 'all' nooutput
stats '../steps.csv' using "step" name 'steps' nooutput
stats '../steps.csv' using (finite("loss")) name 'of_steps' nooutput
width = ceil(steps_records / 120.0)
of_epoch(step) = (floor((step - 1) / width) + 0.5) * width * epochs_max / all_max
set xrange [epochs_min - 1 : epochs_max + margin]
)";

constexpr std::string_view kMetricRange = R"(set yrange [0:1]
do for [name in "NAMES"] {
  undefine metric_*
  stats '../metrics.csv' using (finite(name)) name 'metric' nooutput
  if (exists("metric_records")) { set yrange [*:*] }
}
)";

constexpr std::array<std::string_view, 10> kColours = {"#E24A33", "#348ABD", "#988ED5", "#777777",
                                                       "#FBC15E", "#8EBA42", "#1B4965", "#C2185B",
                                                       "#00897B", "#6D4C41"};

std::string curve(std::string_view column, std::string_view label, std::size_t colour) {
  return fmt::format(
      "'../metrics.csv' using \"epoch\":(finite(\"{}\")) with linespoints linewidth 2.5 pointtype "
      "7 pointsize points linecolor rgb '{}' title '{}'",
      column, kColours[colour % kColours.size()], label);
}

/// A column that most rows may lack: points alone, after other curves.
std::string points_of(std::string_view column, std::string_view label, std::size_t colour) {
  return fmt::format(
      ", \\\n  '../metrics.csv' using \"epoch\":(finite(\"{}\")) with points pointtype 5 pointsize "
      "0.7 linecolor rgb '{}' title '{}'",
      column, kColours[colour % kColours.size()], label);
}

/// `stem`.png and `stem`.svg, both drawn by `plot`.
std::string to_both_formats(const std::string& stem, const std::string& plot) {
  const auto one = [&](const std::string& terminal, const std::string& ending) {
    return "set terminal " + terminal +
           " size 960,720 font 'DejaVu Sans,12' noenhanced background '#ffffff'\nset output "
           "prefix.'" +
           stem + ending + "'\n" + plot + "unset output\n";
  };
  return one("pngcairo", ".png") + one("svg", ".svg");
}

std::string head(const std::string& stem) {
  return "# Draws " + stem + ".png and " + stem + ".svg from the tables of the run: gnuplot " +
         stem + ".gp\nreset\n" + std::string(kStart) + std::string(kLook);
}

std::string axis(char axis, std::string_view label) {
  return fmt::format("set {}label '{}' textcolor rgb '#555555'\n", axis, label);
}

std::string title_text(const PlotContent& content) {
  return gnuplot_text(content.title) + " noenhanced font ',16'\n";
}

/// As in the Keras guide.
std::string guide_plot(const PlotContent& content) {
  return "set key outside right top reverse Left spacing 1.2 samplen 2\nset title " +
         title_text(content) + axis('x', "Epoch #") + axis('y', "Loss/Accuracy") + "plot " +
         curve("loss", "train_loss", 0) + ", \\\n  " + curve("val_loss", "test_loss", 1) +
         ", \\\n  " + curve("accuracy", "train_acc", 2) + ", \\\n  " +
         curve("val_accuracy", "test_acc", 3) +
         (content.clean ? points_of("clean_loss", "clean_loss", 4) +
                              points_of("clean_accuracy", "clean_acc", 5)
                        : "") +
         "\n";
}

std::string loss_plot(const PlotContent& content) {
  std::string plot = "plot ";
  if (content.steps) {
    plot +=
        "'../steps.csv' using (of_epoch(column(\"step\"))):(finite(\"loss\")) smooth unique with "
        "lines linewidth 1.5 linecolor rgb '#F0907F' title 'loss (steps)', \\\n  ";
  }
  return plot + curve("loss", "loss", 0) + ", \\\n  " + curve("val_loss", "val_loss", 1) +
         (content.clean ? points_of("clean_loss", "clean_loss", 2) : "") + "\n";
}

std::string metrics_plot(const PlotContent& content) {
  std::string names, label, curves;
  std::size_t colour = 0;
  for (const std::string& name : content.metrics) {
    names += (names.empty() ? "" : " ") + name;
    label += (label.empty() ? "" : ", ") + name;
    for (const std::string& column : {name, "val_" + name}) {
      curves += (curves.empty() ? "" : ", \\\n  ") + curve(column, column, colour++);
    }
    if (content.clean) curves += points_of("clean_" + name, "clean_" + name, colour++);
  }
  std::string range(kMetricRange);
  constexpr std::string_view kMark = "NAMES";
  range.replace(range.find(kMark), kMark.size(), names);
  return range + axis('y', label) + "plot " + curves + "\n";
}

/// The right edge of the panels, as a fraction of the plot: the legend beside them has room for
/// its longest name.
double panels_end(const PlotContent& content) {
  constexpr double kSample = 0.0625, kLetter = 0.0092;  // a legend's sizes, measured
  std::size_t longest = 0;
  for (const std::string& name : content.metrics) longest = std::max(longest, name.size());
  const std::size_t letters = longest + std::string_view(content.clean ? "clean_" : "val_").size();
  return std::clamp(1 - kSample - kLetter * static_cast<double>(letters), 0.5, 0.8);
}

/// One panel above the other, on the same epoch axis.
std::string panels_plot(const PlotContent& content) {
  const bool two = !content.metrics.empty();
  std::string plot = fmt::format(
      "set key left top at graph 1.02, graph 1 reverse Left spacing 1.2 samplen 2\n"
      "set multiplot layout {},1 margins 0.115, {:.3f}, 0.09, 0.88 spacing 0.06 title ",
      two ? 2 : 1, panels_end(content));
  plot += title_text(content) + std::string(kLossRange) + axis('y', "loss");
  plot += two ? "set format x ''\nunset xlabel\n" : axis('x', "epoch");
  plot += loss_plot(content);
  if (two) {
    plot += "unset label\nset format x '% h'\n" + axis('x', "epoch") + metrics_plot(content);
  }
  return plot + "unset multiplot\n";
}

}  // namespace

std::string gnuplot_text(const std::string& text) {
  std::string out = "'";
  for (const char letter : text) {
    const bool control = static_cast<unsigned char>(letter) < ' ' || letter == 127;
    out += control ? ' ' : letter;
    if (letter == '\'') out += '\'';
  }
  return out + "'";
}

std::string_view gnuplot_colour(std::size_t index) { return kColours[index % kColours.size()]; }

std::string gnuplot_output(const fs::path& output, int width, int height) {
  constexpr double kPixelsPerInch = 96;
  const std::string ending = lower_case(output.extension().string());
  const bool pdf = ending == ".pdf";
  const std::string size =
      pdf ? fmt::format("{:.3f}in,{:.3f}in", width / kPixelsPerInch, height / kPixelsPerInch)
          : fmt::format("{},{}", width, height);
  return fmt::format(
      "set terminal {} size {} font 'DejaVu Sans,{}' noenhanced background '#ffffff'\n"
      "set output prefix.{}\n",
      pdf                ? "pdfcairo"
      : ending == ".svg" ? "svg"
                         : "pngcairo",
      size, pdf ? 9 : 12, gnuplot_text(output.filename().string()));
}

std::string_view gnuplot_look() { return kLook; }

std::string curves_script(const PlotContent& content) {
  const std::string epochs = head("curves") + std::string(kEpochs);
  if (content.guide) {
    return epochs + std::string(kLossRange) + to_both_formats("curves", guide_plot(content));
  }
  return epochs + std::string(content.steps ? kSteps : "") +
         to_both_formats("curves", std::string(kBest) + panels_plot(content));
}

std::string rate_script(const PlotContent& content) {
  const std::string table = content.steps ? "../steps.csv" : "../metrics.csv";
  std::string script = head("lr"), planned;
  if (!content.schedule.empty()) {
    script += "$schedule << END\n";
    for (const RatePoint& point : content.schedule) {
      script += number_text(point.step) + "," + number_text(point.rate) + "\n";
    }
    script += "END\n";
    planned = "$schedule using 1:2 with lines linewidth 1.5 linecolor rgb '#80348ABD', \\\n  ";
  }
  const std::int64_t last = content.schedule.empty() ? 0 : content.schedule.back().step;
  // A few thousand points show every bend and keep the SVG small.
  script += "stats '" + table + "' using \"step\" name 'steps' nooutput\n" +
            fmt::format("last = steps_max > {0} ? steps_max : {0}\n", last) +
            R"(set xrange [0 : last * 1.03]
set format x '%.0f'
set yrange [0:*]
set offsets graph 0, graph 0, graph 0.05, graph 0
set key off
each = ceil(steps_records / 4000.0)
points = steps_records > 30 ? 0 : 0.7
)";
  script += "set title " + title_text(content) + axis('x', "step") + axis('y', "Learning rate");
  return script +
         to_both_formats("lr", "plot " + planned + "'" + table +
                                   "' using \"step\":\"lr\" every each with " +
                                   (planned.empty() || content.steps ? "linespoints" : "points") +
                                   " linewidth 2.5 pointtype 7 pointsize points linecolor rgb "
                                   "'#348ABD'\n");
}

}  // namespace trainyard
