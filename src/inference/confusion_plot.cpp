#include "inference/confusion_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/text.h"
#include "data/images/image_sheet.h"
#include "data/sets/float_image.h"
#include "report/plot_script.h"

namespace trainyard {

namespace {

constexpr std::int64_t kMostCounted = 20, kMostNamed = 60;

/// A row for each cell: predicted class, class, share of the class's samples, count.
std::string cells(const ConfusionMatrix& matrix) {
  std::string block = "$cells << END\n";
  for (std::int64_t label = 0; label < matrix.classes(); ++label) {
    std::int64_t samples = 0;
    for (std::int64_t c = 0; c <= matrix.classes(); ++c) samples += matrix.count(label, c);
    for (std::int64_t c = 0; c < matrix.classes(); ++c) {
      const std::int64_t count = matrix.count(label, c);
      const double share =
          samples == 0 ? 0 : static_cast<double>(count) / static_cast<double>(samples);
      block += fmt::format("{} {} {:.6g} {}\n", c, label, share, count);
    }
    block += '\n';
  }
  return block + "END\n";
}

/// The names of the classes along an axis; of many classes their numbers, as gnuplot chooses.
std::string tics(const std::string& axis, std::int64_t classes,
                 std::span<const std::string> names) {
  if (classes > kMostNamed) return "";
  std::string list;
  for (std::int64_t c = 0; c < classes; ++c) {
    list += fmt::format("{}{} {}", c == 0 ? "" : ", ",
                        gnuplot_text(shortened(name_of_class(names, c))), c);
  }
  return fmt::format("set {}tics ({})\n", axis, list);
}

constexpr std::string_view kAxes = R"(unset grid
unset object 1
set xlabel 'predicted' textcolor rgb '#555555'
set ylabel 'label' textcolor rgb '#555555'
set xrange [-0.5 : classes - 0.5]
set yrange [classes - 0.5 : -0.5]
set cbrange [0 : 1]
set cblabel 'share of the samples of a label' textcolor rgb '#555555'
set palette defined (0 '#ffffff', 0.05 '#fbe3df', 0.5 '#E24A33', 1 '#7a1f12')
set xtics rotate by 45 right
)";

constexpr std::string_view kShades = "plot $cells using 1:2:3 with image notitle";
/// The counts, in white on dark cells; zeros are left out.
constexpr std::string_view kCounts =
    R"(, \
  $cells using 1:2:($4 > 0 && $3 <= 0.4 ? sprintf('%d', $4) : '') with labels textcolor rgb '#333333' font ',10' notitle, \
  $cells using 1:2:($4 > 0 && $3 > 0.4 ? sprintf('%d', $4) : '') with labels textcolor rgb '#ffffff' font ',10' notitle)";

/// The share of samples that are predicted as their class, and their number.
std::string result_text(const ConfusionMatrix& matrix) {
  std::int64_t right = 0, samples = 0;
  for (std::int64_t label = 0; label < matrix.classes(); ++label) {
    right += matrix.count(label, label);
    for (std::int64_t c = 0; c <= matrix.classes(); ++c) samples += matrix.count(label, c);
  }
  return samples == 0 ? "no samples"
                      : fmt::format("accuracy {:.4f}, {}",
                                    static_cast<double>(right) / static_cast<double>(samples),
                                    count_text(samples, "sample"));
}

}  // namespace

std::string confusion_script(const std::string& title, const ConfusionMatrix& matrix,
                             std::span<const std::string> names,
                             const std::filesystem::path& output) {
  const bool svg = lower_case(output.extension().string()) == ".svg";
  const std::int64_t classes = matrix.classes();
  const std::int64_t side = std::clamp<std::int64_t>(360 + 36 * classes, 520, 1200);
  return "if (!exists(\"prefix\")) prefix = ''\nset encoding utf8\n" + cells(matrix) +
         fmt::format("classes = {}\n", classes) +
         fmt::format(
             "set terminal {} size {},{} font 'DejaVu Sans,11' noenhanced background "
             "'#ffffff'\nset output prefix.{}\n",
             svg ? "svg" : "pngcairo", side + 80, side, gnuplot_text(output.filename().string())) +
         std::string(gnuplot_look()) + "set title " + gnuplot_text(title) + ".\"\\n\"." +
         gnuplot_text(result_text(matrix)) + " noenhanced font ',13'\n" + std::string(kAxes) +
         tics("x", classes, names) + tics("y", classes, names) + std::string(kShades) +
         std::string(classes <= kMostCounted ? kCounts : "") + "\nunset output\n";
}

namespace {

constexpr std::size_t kColumns = 8;
constexpr std::int64_t kMostSide = 160;  // of an image, pixels

std::string text_below(const Dataset& set, const Mistake& mistake,
                       std::span<const std::string> names) {
  const std::string file = std::filesystem::path(set.file(mistake.sample)).filename().string();
  return fmt::format("{}\n>{}\n{:.4f}{}{}", name_of_class(names, mistake.label),
                     name_of_class(names, mistake.predicted), mistake.probability,
                     file.empty() ? "" : "\n", file);
}

}  // namespace

std::optional<Image> mistake_sheet(const Dataset& set, std::span<const Mistake> mistakes,
                                   std::span<const std::string> names, std::size_t most) {
  const std::int64_t channels = set.image_shape()[0];
  const bool drawable = (channels == 1 || channels == 3) && set.image_shape()[1] != 1;
  if (mistakes.empty() || !drawable) return std::nullopt;
  std::vector<FloatImage> images;
  ValueRange range;
  for (const Mistake& mistake : mistakes.first(std::min(most, mistakes.size()))) {
    images.push_back(image_of(set, mistake.sample));
    range.take(images.back().values);
  }
  if (set.eight_bit()) range = {.least = 0, .most = 255};
  std::vector<SheetRow> rows;
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (i % kColumns == 0) rows.emplace_back();
    rows.back().push_back({colored(images[i], range), text_below(set, mistakes[i], names)});
  }
  return image_sheet(rows, kMostSide);
}

}  // namespace trainyard
