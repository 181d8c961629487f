#include "bench/scaling_plot.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/plot_script.h"

namespace trainyard {
namespace {

double rate_of_one(std::span<const ScalingRow> rows) {
  return rows.front().images_per_second / rows.front().ranks;
}

/// Columns: position on the axis, ranks, images/s, low, high, efficiency in percent, ms per step of
/// compute, data, communication, hidden communication.
std::string data_block(std::span<const ScalingRow> rows) {
  std::string block = "$counts << END\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ScalingRow& row = rows[i];
    block += fmt::format("{} {} {} {} {} {} {} {} {} {}\n", i, row.ranks, row.images_per_second,
                         row.low, row.high, 100 * row.efficiency, row.parts.compute, row.parts.data,
                         row.parts.communication, row.parts.hidden);
  }
  return block + "END\n";
}

constexpr std::string_view kRates = R"(set title 'Speed' font ',13'
set xlabel 'ranks' textcolor rgb '#555555'
set ylabel UNIT textcolor rgb '#555555'
set key inside top left reverse Left spacing 1.3 samplen 2
set xrange [0 : most * 1.14]
set yrange [0 : *]
plot sample [x = 0 : most] of_one * x with lines dashtype 2 linewidth 2 linecolor rgb '#777777' title 'perfect scaling', \
  $counts using 2:3:xtic(2) with lines linewidth 2.5 linecolor rgb '#E24A33' notitle, \
  $counts using 2:3:4:5 with yerrorbars linewidth 2.5 pointtype 7 pointsize 1.2 linecolor rgb '#E24A33' title 'measured', \
  $counts using 2:3:(sprintf('%.0f %%', $6)) with labels left offset 0.8,-0.9 textcolor rgb '#555555' notitle
)";

constexpr std::string_view kParts = R"(set title 'Where the time of a step goes' font ',13'
set ylabel 'ms per step' textcolor rgb '#555555'
set key left center at graph 1.02, graph 0.5 reverse Left spacing 1.4 samplen 1.5
set xrange [-0.6 : rows - 0.4]
unset grid
set grid ytics back linetype 1 linewidth 1.2 linecolor rgb '#ffffff'
set offsets 0, 0, graph 0.08, 0
set boxwidth 0.55
set style fill solid 1 noborder
plot $counts using 1:($7 + $8 + $9):xtic(2) with boxes linecolor rgb '#E24A33' title 'communication', \
  $counts using 1:($7 + $8) with boxes linecolor rgb '#FBC15E' title 'data', \
  $counts using 1:7 with boxes linecolor rgb '#348ABD' title 'compute'HIDDEN, \
  $counts using 1:($7 + $8 + $9):(sprintf('%.1f', $7 + $8 + $9)) with labels offset 0,0.8 textcolor rgb '#555555' notitle
)";

/// Communication that overlaps the computation is drawn over it, if there is enough to be visible.
constexpr std::string_view kHidden = R"(, \
  $counts using 1:($7 - $10 / 2):(0.275):($10 / 2) with boxxyerror fillstyle transparent pattern 4 noborder linecolor rgb '#1B4965' title 'communication, hidden')";

bool hides_something(std::span<const ScalingRow> rows) {
  constexpr double kVisible = 0.01;  // of a step: a few points of the plot
  return std::ranges::any_of(
      rows, [](const ScalingRow& row) { return row.parts.hidden > kVisible * row.parts.step; });
}

std::string rates_plot(const std::string& unit) {
  std::string script(kRates);
  constexpr std::string_view kMark = "UNIT";
  return script.replace(script.find(kMark), kMark.size(), gnuplot_text(unit + "/s"));
}

std::string parts_plot(std::span<const ScalingRow> rows) {
  std::string script(kParts);
  constexpr std::string_view kMark = "HIDDEN";
  script.replace(script.find(kMark), kMark.size(), hides_something(rows) ? kHidden : "");
  return script;
}

}  // namespace

std::string scaling_script(const ScalingSubject& subject, std::span<const ScalingRow> rows,
                           const std::filesystem::path& output) {
  const std::string title = fmt::format("{}, batch {} per rank", subject.network, subject.batch);
  return "if (!exists(\"prefix\")) prefix = ''\nset encoding utf8\n" + data_block(rows) +
         fmt::format("most = {}\nrows = {}\nof_one = {}\n", rows.back().ranks, rows.size(),
                     rate_of_one(rows)) +
         gnuplot_output(output, 1280, 560) + std::string(gnuplot_look()) +
         "set multiplot layout 1,2 margins 0.1, 0.77, 0.13, 0.83 spacing 0.09 title " +
         gnuplot_text(title) + " noenhanced font ',16'\n" + rates_plot(subject.unit) +
         parts_plot(rows) + "unset multiplot\nunset output\n";
}

}  // namespace trainyard
