#include "run/vocabulary_file.h"

#include <string>

#include "base/error.h"
#include "base/read_file.h"

namespace trainyard {
namespace {

constexpr const char* kVocabularyFile = "vocabulary.json";
constexpr std::uint64_t kMostVocabularyBytes = std::uint64_t{1} << 30;

}  // namespace

void write_vocabulary(const RunFolder& folder, const Vocabulary* vocabulary) {
  if (vocabulary == nullptr || !vocabulary->has_texts()) return;
  std::error_code ignored;
  if (std::filesystem::exists(folder.file(kVocabularyFile), ignored)) return;
  folder.write(kVocabularyFile, vocabulary_json(*vocabulary));
}

std::optional<Vocabulary> read_vocabulary(const std::filesystem::path& run) {
  const std::filesystem::path path = run / kVocabularyFile;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  return parse_vocabulary(read_text(path, ErrorKind::checkpoint, kMostVocabularyBytes),
                          path.string());
}

void require_vocabulary_of_run(const std::filesystem::path& run, const Vocabulary* vocabulary) {
  const std::filesystem::path path = run / kVocabularyFile;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return;
  const std::string kept = read_text(path, ErrorKind::checkpoint, kMostVocabularyBytes);
  if (vocabulary != nullptr && vocabulary_json(*vocabulary) == kept) return;
  throw Error(ErrorKind::checkpoint,
              "'" + path.string() +
                  "' is not the vocabulary of the data, and the run's weights are of its tokens; "
                  "restore the data that the run was trained with, or set 'vocabulary_from: " +
                  path.string() + "' in the source of the text");
}

}  // namespace trainyard
