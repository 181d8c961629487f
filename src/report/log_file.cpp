#include "report/log_file.h"

#include "base/text.h"

namespace trainyard {

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
