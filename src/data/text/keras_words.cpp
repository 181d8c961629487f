#include "data/text/keras_words.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "formats/json.h"

namespace trainyard {

namespace {

constexpr std::string_view kFiltered = "!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n ";
constexpr std::int64_t kMostIndexedWords = 4'000'000;

[[noreturn]] void bad_index(const std::string& name, const std::string& what) {
  throw data_error("'" + name + "': " + what +
                   "; expected an object of words and ranks: {\"the\": 1, ...}");
}

std::int32_t rank_of(const std::string& word, const Json& value, const std::string& name) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max() - KerasTokens::kIndexFrom;
  const std::int64_t rank = value.is_number_integer() ? value.get<std::int64_t>() : 0;
  if (rank >= 1 && rank <= kMost) return static_cast<std::int32_t>(rank);
  bad_index(name, "the rank of " + json_quoted(shortened(word)) + " is " +
                      shortened(value.dump(-1, ' ', false, Json::error_handler_t::replace)) +
                      ", no whole number from 1");
}

}  // namespace

void for_each_keras_word(std::string_view text, const std::function<void(std::string_view)>& each) {
  const std::string lowered = lower_case(text);
  const std::string_view rest = lowered;
  for (std::size_t at = rest.find_first_not_of(kFiltered); at != std::string_view::npos;) {
    const std::size_t end = std::min(rest.find_first_of(kFiltered, at), rest.size());
    each(rest.substr(at, end - at));
    at = rest.find_first_not_of(kFiltered, end);
  }
}

WordIndex counted_index(const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::int64_t>> counted;  // in the order of first appearance
  std::unordered_map<std::string, std::size_t> place;
  for (const std::string& text : texts) {
    for_each_keras_word(text, [&](std::string_view word) {
      const auto [found, added] = place.emplace(word, counted.size());
      if (added) counted.emplace_back(found->first, 0);
      ++counted[found->second].second;
    });
  }
  std::ranges::stable_sort(counted, std::ranges::greater{},
                           &std::pair<std::string, std::int64_t>::second);
  WordIndex index;
  for (const auto& [word, count] : counted) {
    index.emplace(word, static_cast<std::int32_t>(index.size()) + 1);
  }
  return index;
}

WordIndex parse_word_index(std::string_view json, const std::string& name) {
  const Json parsed = parse_json(json, {.name = name}, {.depth = 2, .values = kMostIndexedWords});
  if (!parsed.is_object()) bad_index(name, "it is not an object");
  WordIndex index;
  std::unordered_set<std::int32_t> ranks;
  for (const auto& [word, value] : parsed.items()) {
    const std::int32_t rank = rank_of(word, value, name);
    if (!ranks.insert(rank).second) {
      bad_index(name, "two words have rank " + std::to_string(rank) + ", one of them " +
                          json_quoted(shortened(word)));
    }
    index.emplace(word, rank);
  }
  if (index.empty()) bad_index(name, "it has no words");
  return index;
}

std::vector<std::int32_t> keras_tokens(std::string_view text, const WordIndex& index,
                                       std::int64_t vocabulary) {
  std::vector<std::int32_t> tokens{KerasTokens::kStart};
  for_each_keras_word(text, [&](std::string_view word) {
    const auto found = index.find(std::string(word));
    if (found == index.end()) return;
    const std::int32_t token = found->second + KerasTokens::kIndexFrom;
    tokens.push_back(token < vocabulary ? token : KerasTokens::kUnknown);
  });
  return tokens;
}

std::vector<std::string> keras_token_texts(const WordIndex& index, std::int64_t vocabulary) {
  std::vector<std::string> texts(static_cast<std::size_t>(vocabulary));
  const std::vector<std::string> first{"<pad>", "<start>", "<unknown>", "<unused>"};
  std::ranges::copy(first.begin(), first.begin() + std::min(std::ssize(first), std::ssize(texts)),
                    texts.begin());
  for (const auto& [word, rank] : index) {
    const std::int64_t token = rank + KerasTokens::kIndexFrom;
    if (token < vocabulary) texts[static_cast<std::size_t>(token)] = word;
  }
  return texts;
}

std::uint32_t NumpyRandom::at_most(std::uint32_t largest) {
  const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << std::bit_width(largest)) - 1);
  for (;;) {
    const auto word = static_cast<std::uint32_t>(words_()) & mask;
    if (word <= largest) return word;
  }
}

std::vector<std::int64_t> NumpyRandom::shuffled(std::int64_t size) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::int64_t i = size - 1; i > 0; --i) {
    const std::uint32_t other = at_most(static_cast<std::uint32_t>(i));
    std::swap(order[static_cast<std::size_t>(i)], order[other]);
  }
  return order;
}

}  // namespace trainyard
