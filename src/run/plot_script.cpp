#include "run/plot_script.h"

#include <string_view>

namespace trainyard {

namespace {

/// Grey plane, white grid, no frame: the look of matplotlib's "ggplot" style.
constexpr std::string_view kLook =
    R"(set object 1 rectangle from graph 0,0 to graph 1,1 behind fillcolor rgb '#e5e5e5' fillstyle solid noborder
set border 0
set grid xtics ytics back linetype 1 linewidth 1.2 linecolor rgb '#ffffff'
set tics scale 0.6 nomirror out textcolor rgb '#555555'
)";

/// Points mark the epochs while they are few. Rows without a number leave a gap.
constexpr std::string_view kEpochs = R"(if (!exists("prefix")) prefix = ''
set encoding utf8
set datafile separator comma
stats '../metrics.csv' using "epoch" nooutput
points = STATS_records > 30 ? 0 : 0.7
margin = STATS_max - STATS_min > 10 ? 0.05 * (STATS_max - STATS_min) : 0.5
set xrange [STATS_min - margin : STATS_max + margin]
if (STATS_records <= 12) set xtics 1
set offsets graph 0, graph 0, graph 0.05, graph 0
set key outside right top reverse Left spacing 1.2 samplen 2
set xlabel 'Epoch #' textcolor rgb '#555555'
)";

std::string curve(std::string_view column, std::string_view label, std::string_view colour) {
  return "'../metrics.csv' using \"epoch\":\"" + std::string(column) +
         "\" with linespoints linewidth 2.5 pointtype 7 pointsize points linecolor rgb '" +
         std::string(colour) + "' title '" + std::string(label) + "'";
}

/// Draws `plot` twice, as picture and as vector graphics.
std::string to_both_formats(const std::string& stem, const std::string& plot) {
  const std::string common =
      " size 960,720 font 'DejaVu Sans,12' noenhanced background '#ffffff'\n";
  const auto one = [&](const std::string& terminal, const std::string& ending) {
    return "set terminal " + terminal + common + "set output prefix.'" + stem + ending + "'\n" +
           plot + "\nunset output\n";
  };
  return one("pngcairo", ".png") + one("svg", ".svg");
}

std::string head(const std::string& stem, const std::string& title, const std::string& label) {
  return "# Draws " + stem + ".png and " + stem + ".svg from ../metrics.csv: gnuplot " + stem +
         ".gp\nreset\n" + std::string(kEpochs) + std::string(kLook) + "set title " +
         gnuplot_text(title) + " noenhanced font ',16'\nset ylabel '" + label +
         "' textcolor rgb '#555555'\n";
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

std::string_view gnuplot_look() { return kLook; }

std::string curves_script(const std::string& title) {
  const std::string plot = "plot " + curve("loss", "train_loss", "#E24A33") + ", \\\n  " +
                           curve("val_loss", "test_loss", "#348ABD") + ", \\\n  " +
                           curve("accuracy", "train_acc", "#988ED5") + ", \\\n  " +
                           curve("val_accuracy", "test_acc", "#777777");
  return head("curves", title, "Loss/Accuracy") + "set yrange [0:*]\n" +
         to_both_formats("curves", plot);
}

std::string rate_script(const std::string& title) {
  return head("lr", title, "Learning rate") + "set yrange [0:*]\nset key off\n" +
         to_both_formats("lr", "plot " + curve("lr", "lr", "#348ABD"));
}

}  // namespace trainyard
