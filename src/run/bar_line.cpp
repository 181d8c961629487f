// The progress bar of a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "run/epoch_line.h"

namespace trainyard {

namespace {

constexpr std::int64_t kBarColumns = 20;

std::string bar_of(const Progress& progress, bool utf8) {
  const std::int64_t steps = std::max<std::int64_t>(progress.steps, 1);
  const std::int64_t filled =
      kBarColumns * std::clamp<std::int64_t>(progress.step, 0, steps) / steps;
  std::string bar;
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

/// Columns of a text: bytes that do not continue a UTF-8 sequence.
int columns_of(const std::string& text) {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

}  // namespace

std::string bar_line(const Progress& progress, const BarStyle& style) {
  std::vector<std::string> parts = {fmt::format("{:>3}/{}", progress.epoch, progress.epochs),
                                    fmt::format("  {}/{}", progress.step, progress.steps),
                                    " " + bar_of(progress, style.utf8),
                                    "  loss " + short_value(progress.loss)};
  if (progress.accuracy) parts.push_back("  acc " + short_value(*progress.accuracy));
  parts.push_back("  " + rate_text(progress.images_per_s));
  parts.push_back("  eta " + duration_text(progress.eta_seconds));
  std::string line;
  for (const std::string& part : parts) {
    // The last column stays free: some terminals wrap when it is written.
    const bool fits = style.columns <= 0 || columns_of(line) + columns_of(part) < style.columns;
    if (!fits) break;
    line += part;
  }
  return line;
}

std::string repainted(std::string_view line) {
  return fmt::format("\r{}\x1b[K", line);  // to the row's start, the text, and erase the rest
}

}  // namespace trainyard
