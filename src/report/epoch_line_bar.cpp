// The progress bar in a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "report/epoch_line.h"

namespace trainyard {

namespace {

constexpr std::int64_t kBarColumns = 20;

std::string bar_of(const Progress& progress, bool utf8) {
  const std::int64_t steps = std::max<std::int64_t>(progress.steps, 1);
  const std::int64_t filled =
      kBarColumns * std::clamp<std::int64_t>(progress.step, 0, steps) / steps;
  std::string bar = " ";
  for (std::int64_t i = 0; i < kBarColumns; ++i) {
    bar += utf8 ? (i < filled ? "━" : "─") : (i < filled ? "#" : "-");
  }
  return bar;
}

/// Two digits are enough for something that changes ten times a second.
std::string short_value(double value) {
  if (value != 0 && value < 0.01 && value > -0.01) return fmt::format("{:.1e}", value);
  return fmt::format("{:.2f}", value);
}

std::vector<std::string> words_of(const Progress& progress, bool utf8) {
  const std::string count = fmt::format("{}/{}", progress.step, progress.steps);
  const std::string what = progress.validating ? "  validation " : "  ";
  std::vector<std::string> words = {
      fmt::format("{:>3}/{}{}{}", progress.epoch, progress.epochs, what, count),
      bar_of(progress, utf8)};
  if (!progress.validating) words.push_back("  loss " + short_value(progress.loss));
  if (!progress.validating && progress.accuracy) {
    words.push_back("  acc " + short_value(*progress.accuracy));
  }
  words.push_back("  eta " + duration_text(progress.eta_seconds));
  if (!progress.validating) {
    words.push_back("  " + rate_text(progress.images_per_s, progress.unit));
  }
  return words;
}

}  // namespace

std::string bar_line(const Progress& progress, const BarStyle& style) {
  std::string line;
  for (const std::string& word : words_of(progress, style.utf8)) {
    // The last column stays free: some terminals wrap when it is written to.
    if (style.columns > 0 && columns_of(line + word) >= style.columns) break;
    line += word;
  }
  return line;
}

std::string repainted(std::string_view line) {
  return fmt::format("\r{}\x1b[K", line);  // go to the row's start, print, erase the rest
}

}  // namespace trainyard
