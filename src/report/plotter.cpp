#include "report/plotter.h"

#include <fmt/format.h>

#include <array>
#include <csignal>
#include <span>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/output_place.h"
#include "base/read_file.h"
#include "base/text.h"

namespace trainyard {
namespace {

constexpr std::string_view kInstall = "install it (apt-get install gnuplot-nox)";
constexpr const char* kScript = "plot.gp";
constexpr const char* kErrors = "gnuplot.log";  // in the folder of the plots
constexpr std::array<const char*, 4> kImages = {"curves.png", "curves.svg", "lr.png", "lr.svg"};
constexpr std::uint64_t kMostFileBytes = 64u << 20;  // bytes of a plot or of gnuplot's output

/// True for a regular, non-empty file; a folder, a device or a link is not a plot.
bool is_image(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(fs::symlink_status(path, error)) && fs::file_size(path, error) > 0 &&
         !error;
}

/// The first line of gnuplot's output that has an error message.
std::string first_complaint(const fs::path& path) {
  try {
    for (const std::string& line : split(read_text(path, ErrorKind::disk, 1u << 20), '\n')) {
      const std::string_view text = trimmed(line);
      const bool marks_only = text.find_first_not_of("^ ") == std::string_view::npos;
      const bool warning = text.find("warning:") != std::string_view::npos;
      // gnuplot first repeats the command; its error follows '"curves.gp" line 3:'.
      if (!marks_only && !warning && text.find("line ") != std::string_view::npos) {
        return std::string(text);
      }
    }
  } catch (const Error&) {
    return "";
  }
  return "";
}

/// Why there is no plot; `code` is empty if gnuplot took longer than `limit` seconds.
std::string complaint_of(const std::optional<int>& code, double limit, const fs::path& errors) {
  if (!code) return fmt::format("gnuplot had not ended after {:g} s and was killed", limit);
  if (*code == 0) return "gnuplot ended without an error, but wrote no plot";
  if (*code == 128 + SIGXFSZ) {
    return fmt::format("gnuplot wrote more than {} MiB and was killed", kMostFileBytes >> 20);
  }
  if (*code > 128) return fmt::format("gnuplot was killed by signal {}", *code - 128);
  return fmt::format("gnuplot ended with code {}: {}", *code, first_complaint(errors));
}

/// Runs scripts in `folder`; their plots go to the folder `drawn`, which is in it or is it.
Command gnuplot_command(const fs::path& gnuplot, const std::vector<std::string>& scripts,
                        const fs::path& folder, const fs::path& drawn) {
  const std::string prefix = drawn == folder ? "" : drawn.filename().string() + "/";
  Command command{.program = gnuplot,
                  .arguments = {"-d", "-e", "prefix = '" + prefix + "'"},
                  .environment = {"LC_ALL=C.UTF-8"},
                  .folder = folder,
                  .errors = drawn / kErrors,
                  .most_file_bytes = kMostFileBytes};
  command.arguments.insert(command.arguments.end(), scripts.begin(), scripts.end());
  return command;
}

}  // namespace

void check_plot_output(const fs::path& output, bool has_gnuplot) {
  const auto refuse = [&](const std::string& what) { refuse_command("--plot: " + what); };
  std::error_code ignored;
  if (!output.has_filename() || fs::is_directory(output, ignored)) {
    refuse("'" + output.string() +
           "' is a folder; name a .png or .svg file, or give the run's folder with --out");
  }
  const std::string ending = lower_case(output.extension().string());
  const bool stream = output_place(output).is_stream();
  if (ending != ".png" && ending != ".svg" && !stream) {
    refuse("'" + output.string() + "' ends neither in .png nor in .svg");
  }
  if (!has_gnuplot) {
    refuse("gnuplot was not found, which is needed for the plot; " + std::string(kInstall) +
           " or leave out --plot");
  }
  const fs::path folder = output.parent_path();
  if (!folder.empty() && !fs::is_directory(folder, ignored)) {
    refuse("the folder '" + folder.string() + "' does not exist; create it first");
  }
}

std::string missing_gnuplot_warning(const std::string& numbers) {
  return "gnuplot was not found: no plots are drawn; " + std::string(kInstall) + ", " + numbers +
         " has all the numbers";
}

DrawnPlot drawn_plot(const Disk& disk, const fs::path& gnuplot, const std::string& script,
                     const fs::path& folder) {
  const ScratchFolder drawn(disk, folder);
  const fs::path source = drawn.path() / kScript, errors = drawn.path() / kErrors;
  disk.replace_file(source, script);
  const Command command = gnuplot_command(gnuplot, {kScript}, drawn.path(), drawn.path());
  std::optional<int> code;
  try {
    code = ChildProcess(command).wait();
  } catch (const Error& error) {
    return {.bytes = {}, .complaint = error.what()};
  }
  for (const fs::path& path : entries_of(drawn.path())) {
    if (code != 0 || path == source || path == errors || !is_image(path)) continue;
    return {.bytes = read_bytes(path, ErrorKind::disk, kMostFileBytes), .complaint = ""};
  }
  return {.bytes = {}, .complaint = complaint_of(code, command.limit_seconds, errors)};
}

std::string draw_plot(const Disk& disk, const fs::path& gnuplot, const std::string& script,
                      const fs::path& output) {
  disk.replace_file(fs::path(output).replace_extension(".gp"), script);
  const DrawnPlot drawn = drawn_plot(disk, gnuplot, script, output.parent_path());
  const std::array<std::span<const std::byte>, 1> parts = {drawn.bytes};
  if (drawn.complaint.empty()) disk.replace_file(output, parts);
  return drawn.complaint;
}

Plotter::Plotter(const Disk& disk, PlotterOptions options,
                 std::function<void(const std::string&)> warn)
    : disk_(disk), options_(std::move(options)), warn_(std::move(warn)) {
  into_stream_ = !options_.output.empty() && output_place(options_.output).is_stream();
  disk_.make_folders(options_.folder);
  disk_.replace_file(options_.folder / "curves.gp", curves_script(options_.content));
  disk_.replace_file(options_.folder / "lr.gp", rate_script(options_.content));
}

Plotter::~Plotter() {
  options_.has_rows = false;
  try {
    finish();
  } catch (const std::exception&) {
    warn_ = nullptr;  // a destructor cannot report errors; metrics.csv has all the numbers
  }
}

void Plotter::warn_once(const std::string& text) {
  if (warn_) std::exchange(warn_, nullptr)(text);
}

void Plotter::start() {
  outdated_ = options_.has_rows = false;
  try {
    drawn_.emplace(disk_, options_.folder);
    Command command =
        gnuplot_command(options_.gnuplot, {"curves.gp", "lr.gp"}, options_.folder, drawn_->path());
    command.limit_seconds = options_.limit_seconds;
    gnuplot_ = std::make_unique<ChildProcess>(command);
  } catch (const Error& error) {
    drawn_.reset();
    warn_once(std::string("no plots are drawn: ") + error.what());
  }
}

std::string Plotter::complaint(const std::optional<int>& code) const {
  if (!code && options_.stopped && options_.stopped()) {
    return "the plots lack the last epochs: the run was stopped while gnuplot drew them";
  }
  return "no plots are drawn: " +
         complaint_of(code, options_.limit_seconds, drawn_->path() / kErrors);
}

void Plotter::take_images() {
  const std::optional<int> code = gnuplot_->wait(options_.stopped);
  gnuplot_.reset();
  gave_up_ = !code || *code > 128;
  bool complete = true;
  for (const char* name : kImages) {
    const fs::path ready = drawn_->path() / name;
    const bool drawn = code == 0 && is_image(ready);
    if (drawn) disk_.rename(ready, options_.folder / name);
    complete = complete && drawn;
  }
  if (!complete) warn_once(complaint(code));
  drawn_.reset();
  if (code == 0 && !into_stream_) copy_to_output();
}

void Plotter::copy_to_output() const {
  const bool svg = lower_case(options_.output.extension().string()) == ".svg";
  const fs::path source = options_.folder / (svg ? "curves.svg" : "curves.png");
  if (options_.output.empty() || !is_image(source)) return;
  const std::vector<std::byte> bytes = read_bytes(source, ErrorKind::disk, kMostFileBytes);
  const std::array<std::span<const std::byte>, 1> parts = {bytes};
  disk_.write_output(options_.output, parts);
}

void Plotter::refresh() {
  if (gnuplot_ && !gnuplot_->ended()) {
    outdated_ = true;
    return;
  }
  if (gnuplot_) take_images();
  if (!gave_up_) start();
}

void Plotter::finish() {
  if (gnuplot_) take_images();
  if ((outdated_ || options_.has_rows) && !gave_up_) start();
  if (gnuplot_) take_images();
  if (std::exchange(into_stream_, false)) copy_to_output();
}

}  // namespace trainyard
