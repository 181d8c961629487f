#include "cli/draw.h"

#include <array>

#include "base/error.h"
#include "base/output_place.h"
#include "base/read_file.h"
#include "base/text.h"
#include "cli/environment.h"
#include "report/plotter.h"

namespace trainyard::cli {
namespace {

void require_drawn(const fs::path& output, const std::string& complaint) {
  if (complaint.empty()) return;
  throw disk_error("'" + output.string() + "' was not drawn: " + complaint);
}

}  // namespace

fs::path gnuplot_program() { return program_in_path("gnuplot").value_or(fs::path()); }

void require_image(const fs::path& output) {
  check_curve_output(output, program_in_path("gnuplot").has_value());
}

void draw(const CurvePlot& plot, const fs::path& output) {
  require_drawn(output, draw_plot(Disk(), gnuplot_program(), curve_script(plot, output), output));
}

void draw_output(const CurvePlot& plot, const fs::path& place) {
  require_drawn(place, draw_script(curve_script(plot, place), place));
}

std::string draw_script(const std::string& script, const fs::path& place) {
  const Disk disk;
  const bool stream = output_place(place).is_stream();
  if (!stream) disk.replace_file(fs::path(place).replace_extension(".gp"), script);
  const DrawnPlot drawn = drawn_plot(disk, gnuplot_program(), script,
                                     stream ? fs::temp_directory_path() : place.parent_path());
  const std::array<std::span<const std::byte>, 1> parts = {drawn.bytes};
  if (drawn.complaint.empty()) disk.write_output(place, parts);
  return drawn.complaint;
}

void draw_dot(const std::string& graph, const fs::path& place) {
  const Disk disk;
  const ScratchFolder folder(disk, fs::temp_directory_path());
  const fs::path drawn = folder.path() / "network.svg", errors = folder.path() / "dot.log";
  const Command command{.program = program_in_path("dot").value(),
                        .arguments = {"-Tsvg"},
                        .environment = {"LC_ALL=C.UTF-8"},
                        .folder = folder.path(),
                        .errors = errors,
                        .output = drawn,
                        .input = graph};
  const std::optional<int> code = ChildProcess(command).wait();
  constexpr std::size_t kMostErrors = 1 << 20;
  if (code != 0) {
    const std::string ended = code ? "ended with code " + std::to_string(*code) : "did not end";
    require_drawn(place, "dot " + ended + ": " +
                             std::string(trimmed(read_text(errors, ErrorKind::disk, kMostErrors))));
  }
  disk.write_output(place, read_text(drawn, ErrorKind::disk, command.most_file_bytes));
}

}  // namespace trainyard::cli
