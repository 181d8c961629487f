// The bar chart of `train bench --suite`.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "bench/suite.h"
#include "report/plot_script.h"

namespace trainyard {
namespace {

using Lines = std::vector<SuiteLine>;

constexpr std::array<std::string_view, 6> kBarColours = {"#E24A33", "#348ABD", "#988ED5",
                                                         "#777777", "#FBC15E", "#8EBA42"};
constexpr int kColumns = 3;  // panels in a row

/// Our bars first, then those of each publisher, in order.
std::vector<std::string> bars_of(const Lines& lines) {
  std::vector<std::string> names = {"train"};
  for (const SuiteLine& line : lines) {
    if (std::ranges::find(names, line.by) == names.end()) names.push_back(line.by);
  }
  return names;
}

std::vector<SuitePlace> places_in(const Lines& lines) {
  std::vector<SuitePlace> places;
  for (const SuiteLine& line : lines) {
    if (std::ranges::find(places, line.place) == places.end()) places.push_back(line.place);
  }
  return places;
}

/// The highest rate of `by` at a place, as a number of gnuplot; NaN if there is none.
std::string rate_at(const Lines& lines, const SuitePlace& place, const std::string& by) {
  std::optional<double> rate;
  for (const SuiteLine& line : lines) {
    const bool wanted = line.place == place && line.by == by && line.rate;
    if (wanted && line.rate > rate) rate = line.rate;
  }
  return rate ? fmt::format("{}", *rate) : "NaN";
}

/// Columns: place on the axis, its name, and a rate for each of `names`.
std::string bars_block(std::size_t panel, const Lines& lines, std::span<const std::string> names) {
  std::string block = fmt::format("$panel{} << END\n", panel);
  std::size_t index = 0;
  for (const SuitePlace& place : places_in(lines)) {
    block += fmt::format("{} \"{}\"", index++, place_text(place));
    for (const std::string& name : names) block += " " + rate_at(lines, place, name);
    block += "\n";
  }
  return block + "END\n";
}

/// "not measured here: 1 GPU, 4 GPUs".
std::string missing_places(const Lines& lines) {
  std::vector<std::string> places;
  for (const SuiteLine& line : lines) {
    if (line.by == "train" && !line.rate) places.push_back(place_text(line.place));
  }
  return places.empty() ? "" : "not measured here: " + joined(places);
}

/// A bar of each place for each name, side by side, and the rates above them. Names without a rate
/// get no labels: gnuplot 5.4 crashes on labels of which none has a place.
std::string panel_plot(std::size_t panel, const Lines& lines, std::span<const std::string> names) {
  const auto count = static_cast<double>(names.size());
  const double width = 0.8 / count;
  const std::string unit = lines.front().unit.empty() ? "samples" : lines.front().unit;
  std::string script = "set title " + gnuplot_text(lines.front().row) +
                       " noenhanced font ',12'\nset ylabel " + gnuplot_text(unit + "/s") +
                       " textcolor rgb '#555555'\n";
  script += fmt::format(
      "set xrange [-0.6 : {} - 0.4]\nset label 1 {} at graph 0.02, graph 0.95 left font ',9' "
      "textcolor rgb '#555555'\nset boxwidth {}\n",
      places_in(lines).size(), gnuplot_text(missing_places(lines)), width);
  std::string bars, labels;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double shift = (static_cast<double>(i) - 0.5 * (count - 1)) * width;
    const std::string at = fmt::format("$panel{} using ($1 + {:.3f}):{}", panel, shift, i + 3);
    bars += fmt::format("{} with boxes linecolor rgb '{}' notitle, \\\n  ", at,
                        kBarColours[i % kBarColours.size()]);
    const bool any = std::ranges::any_of(
        lines, [&](const SuiteLine& line) { return line.by == names[i] && line.rate; });
    if (!any) continue;
    labels += fmt::format(
        "{}:(rate(${})) with labels offset 0,0.6 font ',8' textcolor rgb '#333333' notitle, \\\n  ",
        at, i + 3);
  }
  return script + "plot " + bars + labels +
         fmt::format("$panel{} using 1:(0):xtic(2) with points pointtype 0 notitle\n", panel);
}

/// "train on Some CPU, 2 threads; published on c5.18xlarge (36 cores), p3.8xlarge (1 V100)".
std::string hardware_text(const Lines& lines) {
  std::vector<std::string> ours, theirs;
  for (const SuiteLine& line : lines) {
    std::vector<std::string>& names = line.by == "train" ? ours : theirs;
    const bool known = std::ranges::find(names, line.hardware) != names.end();
    if (line.rate && !known) names.push_back(line.hardware);
  }
  const std::string own = ours.empty() ? "" : "train on " + joined(ours) + "; ";
  return own + "published on " + joined(theirs);
}

/// The names of the bars, in a strip of their own below the panels.
std::string legend(const Lines& lines, std::span<const std::string> names) {
  std::string script =
      "set origin 0,0.03\nset size 1,0.05\nset label 2 " + gnuplot_text(hardware_text(lines)) +
      " at screen 0.5, 0.015 center font ',9' textcolor rgb '#555555'\n"
      "set margins 0, 0, 0, 0\nunset title\nunset label 1\nunset "
      "tics\nunset xlabel\nunset ylabel\nunset object 1\nset xrange [0:1]\nset yrange [0:1]\nset "
      "key "
      "center center horizontal samplen 1.5 font ',12'\nplot ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    script += fmt::format("{}NaN with boxes linecolor rgb '{}' title {}", i == 0 ? "" : ", ",
                          kBarColours[i % kBarColours.size()], gnuplot_text(names[i]));
  }
  return script + "\n";
}

constexpr std::string_view kPanels = R"(unset grid
set grid ytics back linetype 1 linewidth 1.2 linecolor rgb '#ffffff'
set xtics font ',10'
set ytics font ',9'
set style fill solid 1 noborder
set offsets 0, 0, graph 0.2, 0
set yrange [0:*]
unset key
rate(value) = value >= 99.95 ? sprintf('%.0f', value) : sprintf('%.3g', value)
)";

}  // namespace

std::string suite_script(const SuiteReport& report, const fs::path& output) {
  const Lines& all = report.lines;
  const std::vector<std::string> names = bars_of(all);
  std::vector<Lines> panels;
  for (const SuiteLine& line : all) {
    if (panels.empty() || panels.back().front().config != line.config) panels.emplace_back();
    panels.back().push_back(line);
  }
  const std::size_t rows = (panels.size() + kColumns - 1) / kColumns;
  const std::size_t columns = std::min<std::size_t>(panels.size(), kColumns);
  const bool svg = lower_case(output.extension().string()) == ".svg";
  std::string script = "if (!exists(\"prefix\")) prefix = ''\nset encoding utf8\n";
  for (std::size_t i = 0; i < panels.size(); ++i) script += bars_block(i, panels[i], names);
  script += fmt::format(
      "set terminal {} size {},{} font 'DejaVu Sans,11' noenhanced background '#ffffff'\nset "
      "output "
      "prefix.{}\n{}{}set multiplot title {} noenhanced font ',15'\n",
      svg ? "svg" : "pngcairo", 460 * columns + 40, 330 * rows + 120,
      gnuplot_text(output.filename().string()), gnuplot_look(), kPanels,
      gnuplot_text(report.name + (all.front().inference ? ", inference" : ", training")));
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const double height = 0.84 / static_cast<double>(rows),
                 width = 1.0 / static_cast<double>(columns);
    script += fmt::format("set origin {:.4f},{:.4f}\nset size {:.4f},{:.4f}\n",
                          static_cast<double>(i % columns) * width,
                          0.92 - static_cast<double>(i / columns + 1) * height, width, height) +
              panel_plot(i, panels[i], names);
  }
  return script + legend(all, names) + "unset multiplot\nunset output\n";
}

}  // namespace trainyard
