// The progress bar in a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/epoch_line.h"
#include "report/line_parts.h"

namespace trainyard {

namespace {

constexpr std::int64_t kBarColumns = 20;
constexpr std::int64_t kLeastBarColumns = 5;  // a shorter bar adds nothing to the count

std::string bar_of(const Progress& progress, std::int64_t columns, bool utf8) {
  const std::int64_t steps = std::max<std::int64_t>(progress.steps, 1);
  const std::int64_t filled = columns * std::clamp<std::int64_t>(progress.step, 0, steps) / steps;
  std::string bar = " ";
  for (std::int64_t i = 0; i < columns; ++i) {
    bar += utf8 ? (i < filled ? "━" : "─") : (i < filled ? "#" : "-");
  }
  return bar;
}

/// Two digits are enough for something that changes ten times a second.
std::string short_value(double value) {
  if (value != 0 && value < 0.01 && value > -0.01) return fmt::format("{:.1e}", value);
  return fmt::format("{:.2f}", value);
}

/// All parts but the bar itself and the throughput. Left out first: the eta, then the accuracy,
/// then the loss.
std::vector<LinePart> words_of(const Progress& progress) {
  const std::string count = fmt::format("{}/{}", progress.step, progress.steps);
  const std::string epoch = fmt::format("{:>3}/{}", progress.epoch, progress.epochs);
  const LinePart left{"  eta " + duration_text(progress.eta_seconds), 3};
  if (progress.validating) return {{epoch}, {"  validation " + count}, left};
  std::vector<LinePart> words = {{epoch}, {"  " + count}};
  words.push_back({"  loss " + short_value(progress.loss), 1});
  if (progress.accuracy) words.push_back({"  acc " + short_value(*progress.accuracy), 2});
  words.push_back(left);
  return words;
}

}  // namespace

std::string bar_line(const Progress& progress, const BarStyle& style) {
  // The last column stays free: some terminals wrap when it is written to.
  const int columns = style.columns > 0 ? style.columns - 1 : 1 << 10;
  std::vector<LinePart> words = fitted(words_of(progress), "", columns);
  const std::int64_t room = columns - columns_of(joined(words, ""));
  if (room < 0) return "";
  const std::int64_t bar = std::min(kBarColumns, room - 1);
  const std::string rate = "  " + rate_text(progress.images_per_s, progress.unit);
  if (!progress.validating && room > kBarColumns + columns_of(rate)) {
    words.insert(words.end() - 1, {rate});
  }
  if (bar >= kLeastBarColumns) {
    words.insert(words.begin() + 2, {bar_of(progress, bar, style.utf8)});
  }
  return joined(words, "");
}

std::string repainted(std::string_view line) {
  return fmt::format("\r{}\x1b[K", line);  // go to the row's start, print, erase the rest
}

}  // namespace trainyard
