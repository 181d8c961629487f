#include "inference/predicted_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/plot_script.h"

namespace trainyard {

namespace {

constexpr std::size_t kMostPanels = 4, kMostPoints = 5000;

/// A row for each sample: its target and its output in column `c`.
std::string points(const PredictedSplit& split, std::size_t c, std::size_t width) {
  const std::size_t samples = split.names.size();
  const std::size_t every = (samples + kMostPoints - 1) / kMostPoints;
  std::string block = fmt::format("$points{} << END\n", c + 1);
  for (std::size_t i = 0; i < samples; i += every) {
    const float target = split.numbers[i * width + c], value = split.outputs[i * width + c];
    if (std::isfinite(value)) block += fmt::format("{:.9g} {:.9g}\n", target, value);
  }
  return block + "END\n";
}

}  // namespace

std::string predicted_script(const std::string& title, const PredictedSplit& split,
                             const std::filesystem::path& output) {
  const std::size_t width = split.outputs.size() / split.names.size();
  const std::size_t panels = std::min(width, kMostPanels);
  std::string script = "if (!exists(\"prefix\")) prefix = ''\nset encoding utf8\n";
  for (std::size_t c = 0; c < panels; ++c) script += points(split, c, width);
  script += gnuplot_output(output, 600 * static_cast<int>(panels), 600);
  script += fmt::format(
      "{}unset object 1\nset key off\nset xtics rotate by 30 right\nset multiplot layout 1,{} "
      "title {}\n",
      gnuplot_look(), panels, gnuplot_text(title));
  for (std::size_t c = 0; c < panels; ++c) {
    script += fmt::format(
        "set xlabel {1} textcolor rgb '#555555'\nset ylabel {2} textcolor rgb '#555555'\n"
        "plot $points{0} using 1:1 with lines linecolor rgb '#999999', "
        "$points{0} using 1:2 with points pointtype 7 pointsize 0.4 linecolor rgb '#E24A33'\n",
        c + 1, gnuplot_text(shortened(split.number_names[c])),
        gnuplot_text("predicted " + shortened(split.number_names[c])));
  }
  return script + "unset multiplot\nunset output\n";
}

}  // namespace trainyard
