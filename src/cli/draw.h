// Draws the plots of verbs: curves with gnuplot, networks with Graphviz.
#pragma once

#include <string>

#include "analysis/curve_plot.h"
#include "base/filesystem.h"

namespace trainyard::cli {

/// The gnuplot of PATH; "" without one.
[[nodiscard]] fs::path gnuplot_program();
/// Checks `output` before the work whose plot it will be. Throws as check_curve_output().
void require_image(const fs::path& output);
/// Draws with the gnuplot of PATH into a file of ours, which is replaced; the script stays beside
/// it, with .gp. Throws Error{disk} with gnuplot's complaint.
void draw(const CurvePlot& plot, const fs::path& output);
/// The same for the place of a flag, see place_for(); there is no script beside a stream.
void draw_output(const CurvePlot& plot, const fs::path& place);
/// Draws a script to the place of a flag. Returns gnuplot's complaint.
[[nodiscard]] std::string draw_script(const std::string& script, const fs::path& place);

/// Lays out a graph with the dot of PATH, as SVG to the place of a flag. Throws Error{disk} with
/// dot's complaint.
void draw_dot(const std::string& graph, const fs::path& place);

}  // namespace trainyard::cli
