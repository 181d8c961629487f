#include "bench/peer_rates.h"

#include <sstream>

#include "base/error.h"
#include "base/read_file.h"
#include "formats/json.h"

namespace trainyard {
namespace {

std::string text_at(const Json& row, const char* key) {
  return row.contains(key) && row[key].is_string() ? row[key].get<std::string>() : "";
}

std::string name_of(const Json& row) {
  std::string name = text_at(row, "peer");
  if (name.empty()) name = text_at(row, "program");
  const std::string mode = text_at(row, "mode");
  return mode.empty() ? name : name + ", " + mode;
}

}  // namespace

std::vector<PeerRate> read_peer_rates(const std::filesystem::path& path, const std::string& net,
                                      std::int64_t batch) {
  constexpr std::uint64_t kLimit = 16 << 20;
  std::istringstream lines(read_text(path, ErrorKind::data, kLimit));
  std::vector<PeerRate> rates;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty()) continue;
    const std::string place = path.string() + ":" + std::to_string(number);
    const Json row = parse_json(line, {.name = place});
    if (!row.is_object()) throw Error(ErrorKind::data, place + ": expected a JSON object");
    const bool rate = row.contains("images_per_s") && row["images_per_s"].is_number();
    const bool asked = text_at(row, "net") == net && row.contains("batch") && row["batch"] == batch;
    if (rate && asked) rates.push_back({name_of(row), row["images_per_s"].get<double>()});
  }
  if (!rates.empty()) return rates;
  throw Error(ErrorKind::data, path.string() + ": no line has \"net\": \"" + net +
                                   "\", \"batch\": " + std::to_string(batch) +
                                   " and \"images_per_s\"; measure the peer at this batch");
}

}  // namespace trainyard
