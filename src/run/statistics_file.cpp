#include "run/statistics_file.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/hash.h"
#include "formats/safetensors.h"

namespace trainyard {
namespace {

constexpr const char* kStatisticsFile = "statistics.safetensors";

struct StatisticsPart {
  const char* name;
  std::vector<float> Statistics::*values;
};
constexpr StatisticsPart kStatisticsParts[] = {{"mean_image", &Statistics::mean_image},
                                               {"mean", &Statistics::mean},
                                               {"deviation", &Statistics::deviation},
                                               {"whitening", &Statistics::whitening}};

/// [d, d] of the whitening matrix, [n] of the others.
std::vector<std::int64_t> shape_of(const StatisticsPart& part, const std::vector<float>& values) {
  const std::int64_t count = std::ssize(values);
  if (part.values != &Statistics::whitening) return {count};
  const auto side = static_cast<std::int64_t>(std::lround(std::sqrt(count)));
  return {side, side};
}

/// What reads the statistics relies on their types and sizes.
[[noreturn]] void refuse_statistics(const std::filesystem::path& path, const std::string& name) {
  throw Error(ErrorKind::checkpoint,
              path.string() + ": '" + name +
                  "' has another type or size than the statistics of a run; restore the run "
                  "folder's own file");
}

Statistics statistics_in(const std::filesystem::path& path) {
  Statistics statistics;
  const SafetensorsFile file = SafetensorsFile::open(path, ErrorKind::checkpoint);
  for (const StatisticsPart& part : kStatisticsParts) {
    const NamedTensor* const tensor = file.find(part.name);
    if (tensor == nullptr) continue;
    if (tensor->type != StoredType::f32) refuse_statistics(path, part.name);
    std::vector<float>& values = statistics.*part.values;
    values.resize(tensor->bytes.size() / sizeof(float));
    std::copy_n(tensor->bytes.begin(), values.size() * sizeof(float),
                reinterpret_cast<std::byte*>(values.data()));
  }
  const std::size_t channels = statistics.mean.size();
  if (statistics.deviation.size() != channels) refuse_statistics(path, "deviation");
  if (channels > 0 && statistics.mean_image.size() % channels != 0) {
    refuse_statistics(path, "mean_image");
  }
  return statistics;
}

}  // namespace

std::string hash_of(const Statistics& statistics) {
  std::string hashes;
  for (const StatisticsPart& part : kStatisticsParts) {
    const std::vector<float>& values = statistics.*part.values;
    if (values.empty()) continue;
    hashes += std::string(part.name) + ' ' + hash128_hex(std::as_bytes(std::span(values))) + '\n';
  }
  return hashes.empty() ? "" : hash128_hex(hashes);
}

void write_statistics(const RunFolder& folder, const Statistics& statistics) {
  std::vector<NamedTensor> tensors;
  for (const StatisticsPart& part : kStatisticsParts) {
    const std::vector<float>& values = statistics.*part.values;
    if (values.empty()) continue;
    tensors.push_back({.name = part.name,
                       .type = StoredType::f32,
                       .shape = shape_of(part, values),
                       .bytes = std::as_bytes(std::span(values))});
  }
  if (tensors.empty()) return;
  const SafetensorsImage image = encode_safetensors(tensors);
  std::string text;
  for (const std::span<const std::byte> bytes : image.parts()) {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  folder.write(kStatisticsFile, text);
}

Statistics read_statistics(const std::filesystem::path& run, const std::string& hash) {
  if (hash.empty()) return {};
  const std::filesystem::path path = run / kStatisticsFile;
  Statistics statistics = statistics_in(path);
  const std::string found = hash_of(statistics);
  if (found != hash) {
    throw Error(ErrorKind::checkpoint, path.string() + ": the statistics have the hash " + found +
                                           ", the checkpoint was trained with " + hash +
                                           "; restore the run folder's own file");
  }
  return statistics;
}

Statistics read_statistics(const std::filesystem::path& run) {
  std::error_code ignored;
  if (!std::filesystem::exists(run / kStatisticsFile, ignored)) return {};
  return statistics_in(run / kStatisticsFile);
}

}  // namespace trainyard
