#include "cli/draw.h"

#include "base/error.h"
#include "cli/environment.h"
#include "report/plotter.h"

namespace trainyard::cli {

void require_picture(const std::filesystem::path& output) {
  check_picture_output(output, program_in_path("gnuplot").has_value());
}

void draw(const CurvePicture& picture, const std::filesystem::path& output) {
  const std::string complaint = draw_picture(Disk(), program_in_path("gnuplot").value_or(""),
                                             curve_script(picture, output), output);
  if (complaint.empty()) return;
  throw Error(ErrorKind::disk, "'" + output.string() + "' was not drawn: " + complaint);
}

}  // namespace trainyard::cli
