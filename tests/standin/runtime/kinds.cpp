#include "kinds.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string_view>

namespace standin {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

// Names, capabilities and sizes as shown by nvidia-smi.
const Gpu kKinds[] = {
    {"h200", "NVIDIA H200", 9, 0, 143771 * kMebibyte, 132, true, true},
    {"a100", "NVIDIA A100-SXM4-80GB", 8, 0, 81920 * kMebibyte, 108, true, true},
    {"rtx4090", "NVIDIA GeForce RTX 4090", 8, 9, 24564 * kMebibyte, 128, false, false},
    {"rtx5090", "NVIDIA GeForce RTX 5090", 12, 0, 32607 * kMebibyte, 170, false, false},
    {"t4", "Tesla T4", 7, 5, 15360 * kMebibyte, 40, true, false},
};

[[noreturn]] void misused_kind(const std::string& text) {
  std::fprintf(stderr, "stand-in of CUDA: %s\n", text.c_str());
  std::abort();
}

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

std::optional<int> number_of(const std::string& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

int required_number(const char* name, const std::string& text) {
  const std::optional<int> number = number_of(text);
  if (!number || *number < 0) misused_kind(std::string(name) + "='" + text + "' is not a number");
  return *number;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) words.push_back(word);
  return words;
}

const Gpu& kind_of(const std::string& word) {
  std::string known;
  for (const Gpu& kind : kKinds) {
    if (kind.word == word) return kind;
    known += std::string(known.empty() ? "" : ", ") + kind.word;
  }
  misused_kind("STANDIN_GPUS contains '" + word + "'; known: a number, " + known);
}

std::vector<Gpu> read_gpus() {
  const std::string text = variable("STANDIN_GPUS");
  std::vector<Gpu> gpus;
  if (const std::optional<int> count = number_of(text)) {
    gpus.assign(static_cast<std::size_t>(*count), kKinds[0]);
  } else {
    for (const std::string& word : words_of(text)) gpus.push_back(kind_of(word));
  }
  const std::string memory = variable("STANDIN_MEMORY_MIB");
  for (Gpu& gpu : gpus) {
    if (memory.empty()) continue;
    gpu.bytes = static_cast<std::size_t>(required_number("STANDIN_MEMORY_MIB", memory)) * kMebibyte;
  }
  return gpus;
}

std::vector<int> read_visible() {
  const int count = static_cast<int>(installed_gpus().size());
  std::vector<int> visible;
  const char* text = std::getenv("CUDA_VISIBLE_DEVICES");
  if (text == nullptr) {
    for (int i = 0; i < count; ++i) visible.push_back(i);
    return visible;
  }
  // Entries after the first invalid one are not visible (CUDA's programming guide).
  for (const std::string& word : words_of(text)) {
    const std::optional<int> number = number_of(word);
    if (!number || *number < 0 || *number >= count) break;
    visible.push_back(*number);
  }
  return visible;
}

}  // namespace

const std::vector<Gpu>& installed_gpus() {
  static const std::vector<Gpu> gpus = read_gpus();
  return gpus;
}

const std::vector<int>& visible_gpus() {
  static const std::vector<int> visible = read_visible();
  return visible;
}

std::string bus_of(int installed) {
  char text[16];
  std::snprintf(text, sizeof(text), "0000:%02x:00.0", static_cast<unsigned>(installed + 1) & 0xff);
  return text;
}

int driver_version() {
  const std::string text = variable("STANDIN_DRIVER");
  return text.empty() ? 13000 : required_number("STANDIN_DRIVER", text);
}

int compute_mode() {
  const std::string text = variable("STANDIN_COMPUTE_MODE");
  return text.empty() ? 0 : required_number("STANDIN_COMPUTE_MODE", text);
}

}  // namespace standin
