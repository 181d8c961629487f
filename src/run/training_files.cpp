#include "run/training_files.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/error.h"
#include "base/hash.h"
#include "base/read_file.h"
#include "formats/json.h"
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
[[noreturn]] void refuse_statistics(const fs::path& path, const std::string& name) {
  throw checkpoint_error(
      path.string() + ": '" + name +
      "' has another type or size than the statistics of a run; restore the run folder's own file");
}

Statistics statistics_in(const fs::path& path) {
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

constexpr const char* kSamplesFile = "samples.json";
constexpr std::uint64_t kMostSamplesBytes = std::uint64_t{64} << 20;

SamplesRecord record_in(const Json& json) {
  const auto image = json.at("image").get<std::array<std::int64_t, 3>>();
  SamplesRecord record{.image = {image[0], image[1], image[2]},
                       .eight_bit = json.at("eight_bit").get<bool>(),
                       .classes = integer_of(json.at("classes")),
                       .class_names = json.at("class_names").get<std::vector<std::string>>()};
  if (json.contains("table")) record.table = table_form_of(json.at("table"));
  if (json.contains("fields")) {
    for (const Json& of : json.at("fields")) record.fields.push_back(sample_field_of(of));
  }
  return record;
}

/// Whether it has as many means, deviations or words as numbers.
bool is_possible(const SampleField& field) {
  const auto numbers = static_cast<std::size_t>(field.shape.elements());
  const bool standard = field.mean.size() == numbers && field.deviation.size() == numbers;
  return (standard || (field.mean.empty() && field.deviation.empty())) &&
         (field.words.empty() || field.words.size() == numbers) &&
         std::ranges::all_of(field.deviation, [](double of) { return of > 0; });
}

bool is_possible(const SamplesRecord& record) {
  const Shape& image = record.image;
  const bool named = std::ssize(record.class_names) == record.classes || record.class_names.empty();
  if (record.table && record.table->features() != image[0]) return false;
  if (!std::ranges::all_of(record.fields, [](const auto& of) { return is_possible(of); })) {
    return false;
  }
  return image[0] >= 0 && image[1] >= 0 && image[2] >= 0 && record.classes >= 0 && named;
}

constexpr const char* kVocabularyFile = "vocabulary.json";
constexpr std::uint64_t kMostVocabularyBytes = std::uint64_t{1} << 30;

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

Statistics read_statistics(const fs::path& run, const std::string& hash) {
  if (hash.empty()) return {};
  const fs::path path = run / kStatisticsFile;
  Statistics statistics = statistics_in(path);
  const std::string found = hash_of(statistics);
  if (found != hash) {
    throw checkpoint_error(path.string() + ": the statistics have the hash " + found +
                           ", the checkpoint was trained with " + hash +
                           "; restore the run folder's own file");
  }
  return statistics;
}

Statistics read_statistics(const fs::path& run) {
  std::error_code ignored;
  if (!fs::exists(run / kStatisticsFile, ignored)) return {};
  return statistics_in(run / kStatisticsFile);
}

SamplesRecord record_of(const Dataset& set) {
  return {.image = set.image_shape(),
          .eight_bit = set.eight_bit(),
          .classes = set.classes(),
          .class_names = set.class_names(),
          .table = set.table() == nullptr ? std::optional<TableForm>() : *set.table(),
          .fields = fitted_fields(set)};
}

void write_samples(const RunFolder& folder, const Dataset& train) {
  std::error_code ignored;
  if (fs::exists(folder.file(kSamplesFile), ignored)) return;
  replace_samples(folder, record_of(train));
}

void replace_samples(const RunFolder& folder, const SamplesRecord& record) {
  Json json{{"image", {record.image[0], record.image[1], record.image[2]}},
            {"eight_bit", record.eight_bit},
            {"classes", record.classes},
            {"class_names", record.class_names}};
  if (record.table) json["table"] = json_of(*record.table);
  for (const SampleField& field : record.fields) json["fields"].push_back(json_of(field));
  folder.write(kSamplesFile, json_text(json));
}

std::optional<SamplesRecord> read_samples(const fs::path& run) {
  const fs::path path = run / kSamplesFile;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  const Json json = parse_json(read_text(path, ErrorKind::checkpoint, kMostSamplesBytes),
                               {.name = path.string(), .kind = ErrorKind::checkpoint});
  std::string fault = "numbers that no samples have";
  try {
    SamplesRecord record = record_in(json);
    if (is_possible(record)) return record;
  } catch (const Json::exception& error) {
    fault = error.what();
  }
  throw checkpoint_error(path.string() + ": does not say what the run's samples are: " + fault +
                         "; remove it, and the run's data are read instead");
}

void write_vocabulary(const RunFolder& folder, const Vocabulary* vocabulary) {
  if (vocabulary == nullptr || !vocabulary->has_texts()) return;
  std::error_code ignored;
  if (fs::exists(folder.file(kVocabularyFile), ignored)) return;
  folder.write(kVocabularyFile, vocabulary_json(*vocabulary));
}

std::optional<Vocabulary> read_vocabulary(const fs::path& run) {
  const fs::path path = run / kVocabularyFile;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  return parse_vocabulary(read_text(path, ErrorKind::checkpoint, kMostVocabularyBytes),
                          path.string());
}

SampleForm read_form(const fs::path& run) {
  SampleForm form;
  const std::optional<SamplesRecord> samples = read_samples(run);
  if (samples && samples->table) form.table = std::make_shared<const TableForm>(*samples->table);
  if (samples) form.fields = samples->fields;
  if (auto vocabulary = read_vocabulary(run)) {
    form.vocabulary = std::make_shared<const Vocabulary>(std::move(*vocabulary));
  }
  return form;
}

void require_vocabulary_of_run(const fs::path& run, const Vocabulary* vocabulary) {
  const fs::path path = run / kVocabularyFile;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return;
  const std::string kept = read_text(path, ErrorKind::checkpoint, kMostVocabularyBytes);
  if (vocabulary != nullptr && vocabulary_json(*vocabulary) == kept) return;
  throw checkpoint_error(
      "'" + path.string() +
      "' is not the vocabulary of the data, and the run's weights are of its tokens; restore the "
      "data that the run was trained with, or set 'vocabulary_from: " +
      path.string() + "' in the source of the text");
}

}  // namespace trainyard
