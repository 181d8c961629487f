// Draws a picture of curves for a verb.
#pragma once

#include <filesystem>

#include "analysis/curve_picture.h"

namespace trainyard::cli {

/// Checks `output` before the work whose picture it will be. Throws as check_picture_output().
void require_picture(const std::filesystem::path& output);
/// Draws with the gnuplot of PATH; the script stays beside the picture, with .gp. Throws
/// Error{disk} with gnuplot's complaint.
void draw(const CurvePicture& picture, const std::filesystem::path& output);

}  // namespace trainyard::cli
