#include "run/samples_file.h"

#include <array>

#include "base/error.h"
#include "base/read_file.h"
#include "formats/json.h"

namespace trainyard {
namespace {

constexpr const char* kSamplesFile = "samples.json";
constexpr std::uint64_t kMostSamplesBytes = std::uint64_t{64} << 20;

SamplesRecord record_in(const Json& json) {
  const auto image = json.at("image").get<std::array<std::int64_t, 3>>();
  return {.image = {image[0], image[1], image[2]},
          .eight_bit = json.at("eight_bit").get<bool>(),
          .classes = integer_of(json.at("classes")),
          .class_names = json.at("class_names").get<std::vector<std::string>>()};
}

bool is_possible(const SamplesRecord& record) {
  const Shape& image = record.image;
  const bool named = std::ssize(record.class_names) == record.classes || record.class_names.empty();
  return image[0] >= 0 && image[1] >= 0 && image[2] >= 0 && record.classes >= 0 && named;
}

}  // namespace

SamplesRecord record_of(const Dataset& set) {
  return {.image = set.image_shape(),
          .eight_bit = set.eight_bit(),
          .classes = set.classes(),
          .class_names = set.class_names()};
}

void write_samples(const RunFolder& folder, const Dataset& train) {
  std::error_code ignored;
  if (std::filesystem::exists(folder.file(kSamplesFile), ignored)) return;
  replace_samples(folder, record_of(train));
}

void replace_samples(const RunFolder& folder, const SamplesRecord& record) {
  folder.write(kSamplesFile,
               json_text({{"image", {record.image[0], record.image[1], record.image[2]}},
                          {"eight_bit", record.eight_bit},
                          {"classes", record.classes},
                          {"class_names", record.class_names}}));
}

std::optional<SamplesRecord> read_samples(const std::filesystem::path& run) {
  const std::filesystem::path path = run / kSamplesFile;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  const Json json = parse_json(read_text(path, ErrorKind::checkpoint, kMostSamplesBytes),
                               {.name = path.string(), .kind = ErrorKind::checkpoint});
  std::string fault = "numbers that no samples have";
  try {
    SamplesRecord record = record_in(json);
    if (is_possible(record)) return record;
  } catch (const Json::exception& error) {
    fault = error.what();
  }
  throw Error(ErrorKind::checkpoint, path.string() +
                                         ": does not say what the run's samples are: " + fault +
                                         "; remove it, and the run's data are read instead");
}

}  // namespace trainyard
