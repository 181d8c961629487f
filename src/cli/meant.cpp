#include "cli/meant.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "cli/run_flags.h"
#include "config/diagnostics.h"
#include "config/load.h"
#include "config/schema.h"
#include "run/config/run_config.h"
#include "run/run_folder.h"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;

/// A name that other programs use, and ours: a flag, or a key of run files.
struct OtherName {
  std::string_view theirs;
  std::string_view ours;
};
constexpr OtherName kOtherNames[] = {
    {"learning_rate", "lr"},
    {"batch_size", "batch.per_gpu"},
    {"batch", "batch.per_gpu"},
    {"bs", "batch.per_gpu"},
    {"global_batch", "batch.total"},
    {"global_batch_size", "batch.total"},
    {"num_epochs", "--epochs"},
    {"max_epochs", "--epochs"},
    {"cfg", "--config"},
    {"conf", "--config"},
    {"output_dir", "--out"},
    {"save_dir", "--out"},
    {"weights", "--init"},
    {"pretrained", "--init"},
    {"random_seed", "--seed"},
    {"num_threads", "--threads"},
    {"num_gpus", "--gpus"},
    {"devices", "--gpus"},
    {"dtype", "--precision"},
    {"nproc_per_node", "--replicas"},
    {"wd", "weight_decay"},
    {"lr_schedule", "schedule"},
    {"scheduler", "schedule"},
    {"clip", "clip_norm"},
    {"grad_clip", "clip_norm"},
    {"gradient_clip_val", "clip_norm"},
    {"timeout", "--max-time"},
    {"model", "network.file"},
};

bool is_file_name(const std::string& word) {
  return word.ends_with(".yaml") || word.ends_with(".yml") || word.find('/') != word.npos;
}

/// The paths of all keys that --set can change, in the order of the reference.
void add_paths(const std::vector<config::FieldDescription>& fields, const std::string& prefix,
               std::vector<std::string>& paths) {
  for (const config::FieldDescription& field : fields) {
    const std::string path = prefix + field.key;
    paths.push_back(path);
    add_paths(field.fields, path + ".", paths);
    const bool inlined = field.type == "selected";
    if (!inlined && field.type != "one of") continue;
    for (const auto& member : field.members) {
      add_paths(member.fields, inlined ? prefix : path + "." + member.name + ".", paths);
    }
  }
}

std::string last_key(const std::string& path) { return path.substr(path.find_last_of('.') + 1); }

/// How many keys of the path are in the run file.
std::size_t depth_in(const config::Node& run, const std::string& path) {
  const config::Node* node = &run;
  std::size_t depth = 0;
  for (const std::string& key : split(path, '.')) {
    if (node->kind == config::Node::Kind::text && node->text == key) return depth + 1;
    node = node->find(key);
    if (node == nullptr) return depth;
    ++depth;
  }
  return depth;
}

/// `key` if the run file may begin with it, else the path that ends in it and goes deepest into the
/// run file; "" if there is none.
std::string path_of(const std::string& key, std::span<const std::string> paths,
                    const config::Node& run) {
  std::string best;
  for (const std::string& path : paths) {
    if (path == key) return path;
    if (!path.ends_with("." + key)) continue;
    if (best.empty() || depth_in(run, path) > depth_in(run, best)) best = path;
  }
  return best;
}

/// --Batch-Size as batch_size.
std::string bare_name(const std::string& flag) {
  const std::size_t begin = std::min(flag.find_first_not_of('-'), flag.size());
  std::string name = lower_case(std::string_view(flag).substr(begin));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

void add_flags(const CLI::App& app, std::vector<std::string>& flags) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    for (const std::string& name : option->get_snames()) flags.push_back("-" + name);
  }
  for (const CLI::App* below : app.get_subcommands(nullptr)) add_flags(*below, flags);
}

/// The run file that the arguments name, if it can be read; else an empty node.
config::Node run_of(const std::vector<std::string>& arguments) {
  constexpr std::string_view kFlag = "--config=";
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    const bool is_folder = fs::path(word).is_relative() && is_run_folder(word);
    const bool named = arguments[i - 1] == "--config" || is_file_name(word) || is_folder;
    if (!named && !word.starts_with(kFlag)) continue;
    try {
      const std::string name = word.starts_with(kFlag) ? word.substr(kFlag.size()) : word;
      const fs::path file = is_folder ? fs::path(word) / "config.yaml" : find_config(name);
      return config::load_run(file, {}, run_rivals());
    } catch (const Error&) {
      continue;  // a different mistake, reported once this one is fixed
    }
  }
  return {};
}

std::vector<std::string> unknown_flags(const std::vector<std::string>& flags,
                                       const std::vector<std::string>& arguments) {
  std::vector<std::string> messages;
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::size_t equals = arguments[i].find('=');
    const std::string flag = arguments[i].substr(0, equals);
    if (!flag.starts_with('-') || parse_real(flag)) continue;
    if (std::find(flags.begin(), flags.end(), flag) != flags.end()) continue;
    std::string value;
    if (equals != flag.npos) {
      value = arguments[i].substr(equals + 1);
    } else if (i + 1 < arguments.size() && !arguments[i + 1].starts_with('-') &&
               !is_file_name(arguments[i + 1])) {
      value = arguments[i + 1];
    }
    const std::string meant = meant_by(flag, value, flags, run_of(arguments));
    messages.push_back("unknown flag '" + flag + "'" +
                       (meant.empty() ? "" : "; did you mean '" + meant + "'?"));
  }
  return messages;
}

std::string unknown_verb(const std::string& word, const std::vector<std::string>& verbs) {
  std::string hint = config::suggestion(word, verbs);
  if (hint.empty()) hint = "; the verbs are " + joined(verbs);
  try {
    static_cast<void>(find_config(word));
    hint = "; to train that config: train --config " + shell_quoted(word);
  } catch (const Error&) {  // no config of this name either
  }
  return "unknown verb '" + word + "'" + hint;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

/// The mistake in the commands after `verb`, as in `train data make shapes`; "" if there is none.
std::string wrong_command(const CLI::App& verb, const std::vector<std::string>& arguments) {
  const CLI::App* app = &verb;
  std::string path = "train " + verb.get_name();
  std::vector<std::string> commands = command_names(*app);
  for (std::size_t i = 1; !commands.empty(); ++i) {
    const std::string list = "; its commands are: " + joined(commands);
    if (i >= arguments.size() || arguments[i].starts_with('-')) {
      return "'" + path + "' needs a command" + list;
    }
    const std::string& word = arguments[i];
    if (std::find(commands.begin(), commands.end(), word) == commands.end()) {
      const std::string hint = config::suggestion(word, commands);
      return "unknown command '" + word + "' of '" + path + "'" + (hint.empty() ? list : hint);
    }
    app = app->get_subcommand(word);
    path += " " + word;
    commands = command_names(*app);
  }
  return "";
}

}  // namespace

std::vector<std::string> with_verb(std::vector<std::string> arguments) {
  if (arguments.empty()) return arguments;
  const std::string first = arguments[0];
  if (first == "version") return {"--version"};
  if (first == "help" && arguments.size() == 1) return {"--help"};
  if (first == "help") {
    std::rotate(arguments.begin(), arguments.begin() + 1, arguments.end());
    arguments.back() = "--help";
    return arguments;
  }
  const bool own = first == "--help" || first == "-h" || first == "--version";
  const bool of_train = (first.starts_with("-") && !own) || is_file_name(first);
  if (of_train) arguments.insert(arguments.begin(), "train");
  return arguments;
}

std::string meant_by(const std::string& flag, const std::string& value,
                     std::span<const std::string> flags, const config::Node& run) {
  std::vector<std::string> names, paths, keys;
  for (const std::string& known : flags) names.push_back(bare_name(known));
  const bool sets = std::find(flags.begin(), flags.end(), "--set") != flags.end();
  if (sets) add_paths(describe_run(), "", paths);
  for (const std::string& path : paths) keys.push_back(last_key(path));

  std::string name = bare_name(flag);
  const auto known = std::find(names.begin(), names.end(), name);
  if (known != names.end()) return flags[static_cast<std::size_t>(known - names.begin())];
  for (const OtherName& other : kOtherNames) {
    if (other.theirs != name) continue;
    if (std::find(flags.begin(), flags.end(), other.ours) != flags.end()) {
      return std::string(other.ours);
    }
    name = other.ours;
  }
  std::string path = path_of(name, paths, run);
  if (path.empty()) {
    const std::string near = config::nearest(name, names);
    const auto found = std::find(names.begin(), names.end(), near);
    if (!near.empty()) return flags[static_cast<std::size_t>(found - names.begin())];
    const std::string key = config::nearest(name, keys);
    if (key.empty()) return "";
    path = path_of(key, paths, run);
  }
  return "--set " + path + "=" + (value.empty() ? "VALUE" : value);
}

std::vector<std::string> mistakes(const CLI::App& app, const CLI::ParseError& error,
                                  const std::vector<std::string>& arguments) {
  const std::vector<std::string> verbs = command_names(app);
  if (arguments.empty()) {
    return {"nothing to do: give a run file, as in 'train --config FILE', or a verb: " +
            joined(verbs)};
  }
  const bool is_verb = std::find(verbs.begin(), verbs.end(), arguments[0]) != verbs.end();
  if (!is_verb && !arguments[0].starts_with('-')) return {unknown_verb(arguments[0], verbs)};
  if (!is_verb) return {error.what()};
  const CLI::App& verb = *app.get_subcommand(arguments[0]);
  std::vector<std::string> flags{"--help"};
  add_flags(verb, flags);
  const std::vector<std::string> unknown = unknown_flags(flags, arguments);
  if (!unknown.empty()) return unknown;
  const std::string command = wrong_command(verb, arguments);
  return {command.empty() ? error.what() : command};
}

}  // namespace trainyard::cli
