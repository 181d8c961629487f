// Keeps the pictures of a run up to date with gnuplot, without holding up the training.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/atomic_file.h"
#include "base/child_process.h"
#include "report/plot_script.h"

namespace trainyard {

struct PlotterOptions {
  std::filesystem::path gnuplot;  // see find_program
  std::filesystem::path folder;   // `plots` of the run folder, beside metrics.csv's
  PlotContent content;
  std::filesystem::path output;  // --output FILE.png or FILE.svg: gets the curves too; or empty
  std::function<bool()> stopped = nullptr;  // true: end gnuplot rather than wait for it
  double limit_seconds = 60;                // for one start of gnuplot
};

/// Checks --output before a run starts. Throws Error{command_line} if `output` ends neither in .png
/// nor in .svg, its folder is missing, or gnuplot is.
void check_plot_output(const std::filesystem::path& output, bool has_gnuplot);

/// The one warning of a run that goes without pictures; `numbers`: the file that has them all.
[[nodiscard]] std::string missing_gnuplot_warning(const std::string& numbers = "metrics.csv");

/// Draws one picture and waits for it. The script stays beside it, under its name with .gp, and
/// draws to prefix.'NAME'; the picture is replaced whole. Answers gnuplot's complaint, "" if it is
/// drawn; gnuplot has 60 s. Throws Error{disk}.
[[nodiscard]] std::string draw_picture(const Disk& disk, const std::filesystem::path& gnuplot,
                                       const std::string& script,
                                       const std::filesystem::path& output);

/// Draws curves.png, curves.svg, lr.png and lr.svg in the background. A picture is replaced whole
/// when its successor is ready. What goes wrong with gnuplot is one warning, never an error; one
/// that hangs or is killed is not started again.
class Plotter {
 public:
  /// Writes the scripts. `disk` must outlive it; `warn` gets at most one line.
  Plotter(const Disk& disk, PlotterOptions options, std::function<void(const std::string&)> warn);
  /// Calls finish(), whatever comes of it.
  ~Plotter();
  Plotter(const Plotter&) = delete;
  Plotter& operator=(const Plotter&) = delete;

  /// After each row of metrics.csv: takes over the pictures that are ready and starts the next
  /// ones, unless gnuplot still works.
  void refresh();
  /// At the end: waits until the pictures show the last row, or gnuplot's limit, or a stop.
  void finish();

 private:
  void start();
  void take_pictures();
  [[nodiscard]] std::string complaint(const std::optional<int>& code) const;
  void warn_once(const std::string& text);

  const Disk& disk_;
  PlotterOptions options_;
  std::function<void(const std::string&)> warn_;
  std::unique_ptr<ChildProcess> gnuplot_;
  bool outdated_ = false;  // a row came while gnuplot worked
  bool gave_up_ = false;
};

}  // namespace trainyard
