#include "run/whitening_file.h"

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "formats/safetensors.h"

namespace trainyard {
namespace {

constexpr const char* kStatisticsFile = "statistics.safetensors";
constexpr const char* kWhitening = "whitening";

}  // namespace

void write_whitening(const RunFolder& folder, const std::vector<float>& matrix) {
  if (matrix.empty()) return;
  const auto side = static_cast<std::int64_t>(std::lround(std::sqrt(matrix.size())));
  const NamedTensor tensor{.name = kWhitening,
                           .type = StoredType::f32,
                           .shape = {side, side},
                           .bytes = std::as_bytes(std::span(matrix))};
  const SafetensorsImage image = encode_safetensors({&tensor, 1});
  std::string text;
  for (const std::span<const std::byte> part : image.parts()) {
    text.append(reinterpret_cast<const char*>(part.data()), part.size());
  }
  folder.write(kStatisticsFile, text);
}

std::vector<float> read_whitening(const std::filesystem::path& run, const std::string& hash) {
  if (hash.empty()) return {};
  const std::filesystem::path path = run / kStatisticsFile;
  const SafetensorsFile file = SafetensorsFile::open(path, ErrorKind::checkpoint);
  const std::span<const std::byte> bytes = file.at(kWhitening).bytes;
  const std::string found = hash128_hex(bytes);
  if (found != hash) {
    throw Error(ErrorKind::checkpoint, path.string() + ": the whitening matrix has the hash " +
                                           found + ", the checkpoint was trained with " + hash +
                                           "; restore the run folder's own file");
  }
  std::vector<float> matrix(bytes.size() / sizeof(float));
  std::copy_n(bytes.begin(), matrix.size() * sizeof(float),
              reinterpret_cast<std::byte*>(matrix.data()));
  return matrix;
}

}  // namespace trainyard
