// Keeps the plots of a run up to date with gnuplot, without delaying training.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/atomic_file.h"
#include "base/child_process.h"
#include "base/filesystem.h"
#include "report/plot_script.h"

namespace trainyard {

struct PlotterOptions {
  fs::path gnuplot;  // see find_program
  fs::path folder;   // `plots` in the run folder, which has metrics.csv
  PlotContent content;
  fs::path output;                          // --plot FILE: a copy of the curves; or empty
  std::function<bool()> stopped = nullptr;  // true: end gnuplot rather than wait for it
  double limit_seconds = 60;                // for one start of gnuplot
  bool has_rows = false;  // rows from before a resume: drawn at the end, if none follow
};

/// Checks --plot before a run starts. Throws Error{command_line} if `output` is a file that ends
/// neither in .png nor in .svg, or if its folder or gnuplot is missing. A stream gets a PNG
/// plot.
void check_plot_output(const fs::path& output, bool has_gnuplot);

/// The warning of a run without plots; `numbers`: the file that has all the numbers.
[[nodiscard]] std::string missing_gnuplot_warning(const std::string& numbers = "metrics.csv");

/// A plot, or why there is none.
struct DrawnPlot {
  std::vector<std::byte> bytes;
  std::string complaint;  // gnuplot's, or that it cannot be started; "" on success
};

/// Runs a script that draws one plot. gnuplot works in a private folder within `folder`, which
/// is removed, and has 60 s. Throws Error{disk}.
[[nodiscard]] DrawnPlot drawn_plot(const Disk& disk, const fs::path& gnuplot,
                                   const std::string& script, const fs::path& folder);

/// Draws one plot and waits for it. The script is saved next to it, under its name with .gp; the
/// plot is replaced atomically. Returns the complaint. Throws Error{disk}.
[[nodiscard]] std::string draw_plot(const Disk& disk, const fs::path& gnuplot,
                                    const std::string& script, const fs::path& output);

/// Draws curves.png, curves.svg, lr.png and lr.svg in the background. A plot is replaced atomically
/// when the new one is ready. Problems with gnuplot give one warning, never an error; a gnuplot
/// that hangs or is killed is not started again.
class Plotter {
 public:
  /// Writes the scripts. `disk` must outlive it; `warn` is called with at most one line.
  Plotter(const Disk& disk, PlotterOptions options, std::function<void(const std::string&)> warn);
  /// Calls finish() and ignores its errors.
  ~Plotter();
  Plotter(const Plotter&) = delete;
  Plotter& operator=(const Plotter&) = delete;

  /// After each row of metrics.csv: moves finished plots into place and starts the next ones,
  /// unless gnuplot is still running.
  void refresh();
  /// At the end: waits until the plots show the last row, gnuplot's limit passes, or a stop.
  void finish();

 private:
  void start();
  void take_images();
  void copy_to_output() const;
  [[nodiscard]] std::string complaint(const std::optional<int>& code) const;
  void warn_once(const std::string& text);

  const Disk& disk_;
  PlotterOptions options_;
  std::function<void(const std::string&)> warn_;
  std::unique_ptr<ChildProcess> gnuplot_;
  std::optional<ScratchFolder> drawn_;  // folder of its plots
  bool into_stream_ = false;            // options_.output is one: written once, at the end
  bool outdated_ = false;               // a row was added while gnuplot was running
  bool gave_up_ = false;
};

}  // namespace trainyard
