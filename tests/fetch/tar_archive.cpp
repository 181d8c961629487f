#include "tar_archive.h"

#include <cstdio>
#include <numeric>

namespace trainyard::testing {
namespace {

void put(std::string& header, std::size_t at, const std::string& text) {
  header.replace(at, text.size(), text);
}

std::string octal_text(std::uint64_t number, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*llo", digits, static_cast<unsigned long long>(number));
  return text;
}

}  // namespace

std::string tar_archive(const std::vector<TarMember>& members) {
  std::string archive;
  for (const TarMember& member : members) {
    std::string header(512, '\0');
    put(header, 0, member.name);
    put(header, 124, octal_text(member.contents.size(), 11));
    put(header, 148, "        ");
    header[156] = member.type;
    put(header, 257, "ustar");
    std::uint64_t sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    put(header, 148, octal_text(sum, 6) + std::string("\0 ", 2));
    archive += header + member.contents;
    archive.resize((archive.size() + 511) / 512 * 512, '\0');
  }
  return archive + std::string(1024, '\0');
}

}  // namespace trainyard::testing
