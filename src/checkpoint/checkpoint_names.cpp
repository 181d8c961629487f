#include "checkpoint/checkpoint_names.h"

#include <algorithm>
#include <system_error>
#include <tuple>

#include "base/text.h"

namespace trainyard {

namespace {

std::string padded(std::int64_t value, std::size_t width) {
  const std::string digits = std::to_string(value);
  return std::string(width > digits.size() ? width - digits.size() : 0, '0') + digits;
}

}  // namespace

std::string checkpoint_name(std::int64_t epoch, std::int64_t step) {
  return "epoch-" + padded(epoch, 4) + "_step-" + padded(step, 6);
}

std::optional<CheckpointEntry> parse_checkpoint_name(std::string_view file_name) {
  std::string_view name = file_name;
  if (name.starts_with(kReplacedPrefix))
    name.remove_prefix(std::string_view(kReplacedPrefix).size());
  constexpr std::string_view kEpoch = "epoch-";
  constexpr std::string_view kStep = "_step-";
  const std::size_t middle = name.find(kStep);
  if (!name.starts_with(kEpoch) || middle == std::string_view::npos) return std::nullopt;
  const auto epoch = parse_integer(name.substr(kEpoch.size(), middle - kEpoch.size()));
  const auto step = parse_integer(name.substr(middle + kStep.size()));
  if (!epoch || !step || checkpoint_name(*epoch, *step) != name) return std::nullopt;
  return CheckpointEntry{std::string(file_name), *epoch, *step};
}

std::vector<CheckpointEntry> list_checkpoints(const std::filesystem::path& folder) {
  std::vector<CheckpointEntry> entries;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    const auto entry = parse_checkpoint_name(it->path().filename().string());
    if (entry && it->is_directory(error)) entries.push_back(*entry);
  }
  const auto age = [](const CheckpointEntry& entry) {
    const bool replaced = entry.file_name.starts_with(kReplacedPrefix);
    return std::tuple(-entry.step, -entry.epoch, replaced);
  };
  std::sort(entries.begin(), entries.end(),
            [&](const CheckpointEntry& a, const CheckpointEntry& b) { return age(a) < age(b); });
  return entries;
}

}  // namespace trainyard
