// The gnuplot scripts of a run: what is drawn, and how it looks.
#pragma once

#include <string>
#include <string_view>

namespace trainyard {

/// As a gnuplot text: in single quotes nothing but a quote is special. Control characters would end
/// the line and become blanks.
[[nodiscard]] std::string gnuplot_text(const std::string& text);
/// What all pictures share: plane, grid, colours of the frame.
[[nodiscard]] std::string_view gnuplot_look();

/// train/test loss and accuracy against epochs, from ../metrics.csv to curves.png and curves.svg.
/// The script stays beside its pictures and runs there by itself: `gnuplot curves.gp`. If the
/// variable `prefix` is set, the pictures' names get it. `title` is any text.
[[nodiscard]] std::string curves_script(const std::string& title);

/// The learning rate against epochs, to lr.png and lr.svg.
[[nodiscard]] std::string rate_script(const std::string& title);

}  // namespace trainyard
