#include "starter/starter.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <system_error>

#include "base/error.h"
#include "base/text.h"
#include "config/file_path.h"
#include "config/node.h"
#include "starter/starter_texts.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostBatch = 32;

/// A power of two of which an epoch has several, at most kMostBatch.
std::int64_t batch_for(std::int64_t samples) {
  std::int64_t batch = 1;
  while (batch < kMostBatch && 8 * batch <= samples) batch *= 2;
  return batch;
}

std::string split_text(const StarterData& data) {
  if (data.val_path.empty()) {
    return "  # A fifth of the pictures of each class is kept for validation. Or name a folder of\n"
           "  # its own: val: {source: image_folder, root: FOLDER, size: 64}\n"
           "  val_fraction: 0.2";
  }
  return "  val: {source: image_folder, root: " + json_quoted(data.val_path.string()) +
         ", size: 64}";
}

std::string filled(std::string_view text, const std::map<std::string, std::string>& words) {
  std::string out(text.substr(text.find_first_not_of('\n')));
  for (const auto& [word, value] : words) {
    const std::string mark = "@" + word + "@";
    for (std::size_t at = out.find(mark); at != std::string::npos; at = out.find(mark, at)) {
      out.replace(at, mark.size(), value);
      at += value.size();
    }
  }
  return out;
}

void require_new(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(path, ignored))) return;
  refuse_command("'" + path.string() + "' exists; move it away, or give --out another folder");
}

/// `path`, which is relative to the current folder, as files in `folder` name it.
fs::path seen_from(const fs::path& folder, const fs::path& path) {
  std::error_code ignored;
  const fs::path place = fs::weakly_canonical(fs::absolute(folder, ignored), ignored);
  if (path.is_absolute() || path.empty() || place == fs::current_path(ignored)) return path;
  return config::absolute_path(path).lexically_relative(place);
}

/// Quoted if YAML would read a number, a truth value or nothing: 2024, 010, true, null.
std::string text_in_yaml(const std::string& text) {
  const bool letter = !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) != 0;
  const bool plain = config::scalar_node(text, false, {}).kind == config::Node::Kind::text;
  return letter && plain ? text : json_quoted(text);
}

}  // namespace

StarterFiles write_starter(StarterData data, const fs::path& folder, const Disk& disk) {
  data.path = seen_from(folder, data.path);
  data.val_path = seen_from(folder, data.val_path);
  const StarterFiles files{.config = folder / (data.name + ".yaml"),
                           .network = folder / (data.name + "_network.yaml")};
  require_new(files.config);
  require_new(files.network);
  const std::map<std::string, std::string> words = {
      {"name", data.name},
      {"name text", text_in_yaml(data.name)},
      {"path", json_quoted(data.path.string())},
      {"split", split_text(data)},
      {"batch", std::to_string(batch_for(data.samples))},
      {"classes", std::to_string(data.classes)},
      {"characters", std::to_string(data.characters)}};
  const StarterTexts texts = starter_texts(data.kind);
  disk.make_folders(folder.empty() ? "." : folder);
  disk.replace_file(files.network, filled(texts.network, words));
  disk.replace_file(files.config, filled(texts.config, words));
  return files;
}

}  // namespace trainyard
