#include "../base/temporary_folder.h"
#include "data/sets/numpy_array.h"
#include "data/sets/zip_file.h"
#include "data/text/keras_words.h"
#include "data/text/text_windows.h"
#include "data/text/texts.h"
#include "expect.h"

namespace trainyard::fuzz {

namespace {

void read_numbers(std::vector<std::byte> file) {
  const NumpyArray array = parse_numpy(std::move(file), "x");
  const auto count = static_cast<std::size_t>(array.elements());
  if (array.kind != NumberKind::real) {
    expect(integers_of(array).size() == count, "an array loses whole numbers");
  }
  expect(floats_of(array).size() == count, "an array loses numbers");
}

}  // namespace

void read_numpy(std::string_view input) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(input.data());
  read_numbers({bytes, bytes + input.size()});
}

void read_zip(std::string_view input) {
  const testing::TemporaryFolder folder;
  const ZipFile archive(folder.write("a.npz", std::string(input)));
  for (const std::string& name : archive.names()) read_numbers(archive.read(name));
}

void read_text(std::string_view input) {
  const testing::TemporaryFolder folder;
  TextOptions options;
  options.file = folder.write("a.txt", std::string(input)).string();
  options.length = 2;
  options.predict = Predicted::every;
  for (const auto& word : words(TextUnit{})) {
    options.unit = word.value;
    const auto set = open_text(options);
    std::vector<std::int32_t> tokens(2);
    for (const std::size_t field : {0, 1}) {
      set->read_field(field, set->size() - 1, reinterpret_cast<std::byte*>(tokens.data()));
      for (const std::int32_t token : tokens) {
        expect(token >= 0 && token < set->vocabulary()->size(), "a token is not in the vocabulary");
      }
    }
  }
}

void read_text_rows(std::string_view input) {
  const LabelledTexts read = parse_text_table(input, "x");
  expect(read.texts.size() == read.labels.size(), "a text has no label");
  const WordIndex index = counted_index(read.texts);
  for (const std::string& text : read.texts) {
    for (const std::int32_t token : keras_tokens(text, index, 6)) {
      expect(token >= KerasTokens::kStart && token < 6, "a token is not in the vocabulary");
    }
  }
}

void read_vocabulary(std::string_view input) {
  const Vocabulary vocabulary = parse_vocabulary(input, "x");
  const std::string written = vocabulary_json(vocabulary);
  const Vocabulary again = read_again(written, [&] { return parse_vocabulary(written, "x"); });
  expect(again.words() == vocabulary.words(), "a vocabulary changes when it is written");
}

void read_word_index(std::string_view input) {
  expect(!parse_word_index(input, "x").empty(), "an index without words");
}

}  // namespace trainyard::fuzz
