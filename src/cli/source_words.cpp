#include "cli/source_words.h"

#include <utility>

#include "base/error.h"
#include "config/fields.h"
#include "config/load.h"

namespace trainyard::cli {
namespace {

/// The map that `source=image_list file=list.csv` is in a run file; a folder alone is one of
/// pictures.
config::Node source_map(const std::vector<std::string>& words) {
  config::Node map{.kind = config::Node::Kind::map, .where = {"train data pack", 1, 1}};
  const auto add = [&](const std::string& key, config::Node value) {
    map.entries.push_back({key, value.where, std::move(value)});
  };
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos && map.find("root") == nullptr) {
      add("source", config::scalar_node("image_folder", false, map.where));
      add("root", config::scalar_node(word, true, map.where));
      continue;
    }
    if (equals == std::string::npos) {
      throw Error(ErrorKind::command_line,
                  "'" + word +
                      "' is not KEY=VALUE: the source is a folder of pictures, or the "
                      "keys of a source, as in: source=image_list file=list.csv");
    }
    const std::string key = word.substr(0, equals);
    add(key, config::parse_yaml(word.substr(equals + 1), "train data pack " + key));
  }
  return map;
}

struct NamedSource {
  std::unique_ptr<DatasetSource> source;
};

void declare(config::Fields& fields, NamedSource& named) {
  fields.select("source", named.source, "where the samples come from", dataset_kinds());
}

}  // namespace

std::unique_ptr<DatasetSource> source_of(const std::vector<std::string>& words) {
  const config::Node map = source_map(words);
  config::Diagnostics diagnostics;
  config::Fields fields(map, nullptr, "source", config::Profile::keras2, diagnostics);
  NamedSource named;
  declare(fields, named);
  fields.finish();
  diagnostics.raise();
  return std::move(named.source);
}

}  // namespace trainyard::cli
