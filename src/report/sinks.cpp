#include "report/sinks.h"

#include <utility>

#include "base/text.h"

namespace trainyard {

LogSink::LogSink(const Disk& disk, const Clock& clock, const std::filesystem::path& path,
                 const Banner& banner, std::int64_t epochs)
    : file_(disk, clock, path),
      epochs_(epochs),
      samples_a_step_(global_batch(banner)),
      judged_(banner.judged),
      unit_(banner.unit) {
  file_.write(banner_line(LogStyle::keras, banner));
  if (banner.resumed) file_.write(resumed_line(LogStyle::keras, *banner.resumed));
}

void LogSink::on_epoch(const EpochRow& row) {
  EpochContext context = epoch_context(row, epochs_, samples_a_step_);
  context.unit = unit_;
  file_.write(epoch_line(LogStyle::keras, row, context));
  if (row.is_best && !std::exchange(explained_, true)) file_.write(best_legend(judged_));
}

LogFile::LogFile(const Disk& disk, const Clock& clock, const std::filesystem::path& path)
    : clock_(clock), file_(disk, path) {}

void LogFile::write(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  const std::string time = utc_text(clock_.utc_seconds());
  std::string lines;
  for (const std::string& line : split(without_escapes(text), '\n')) {
    lines += time + " " + line + "\n";
  }
  file_.append(lines);
}

std::string without_escapes(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto letter = static_cast<unsigned char>(text[i]);
    if (letter == 0x1b && i + 1 < text.size() && text[i + 1] == '[') {
      // Parameters are between '[' and the final letter, '@' to '~'.
      for (i += 2; i < text.size() && (text[i] < '@' || text[i] > '~'); ++i) {
      }
    } else if (letter >= ' ' && letter != 127) {
      plain += text[i];
    } else if (letter == '\n') {
      plain += '\n';
    }
  }
  return plain;
}

}  // namespace trainyard
