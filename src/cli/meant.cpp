#include "cli/meant.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/filesystem.h"
#include "base/text.h"
#include "cli/help.h"
#include "cli/run_flags.h"
#include "config/diagnostics.h"
#include "config/foreign_words.h"
#include "config/load.h"
#include "run/config/key_paths.h"
#include "run/config/run_config.h"
#include "run/run_folder.h"

namespace trainyard::cli {
namespace {

bool is_file_name(const std::string& word) {
  return word.ends_with(".yaml") || word.ends_with(".yml") || word.find('/') != word.npos;
}

/// --Batch-Size as batch_size.
std::string bare_name(const std::string& flag) {
  const std::size_t begin = std::min(flag.find_first_not_of('-'), flag.size());
  std::string name = lower_case(std::string_view(flag).substr(begin));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string last_key(const std::string& path) { return path.substr(path.find_last_of('.') + 1); }

/// What a flag of another program is here.
const config::ForeignWord* foreign_flag(const std::string& name) {
  const config::ForeignWord* own = config::foreign_word(name, "flag");
  return own != nullptr ? own : config::foreign_word(name, "run");
}

void add_flags(const CLI::App& app, std::vector<std::string>& flags) {
  for (const CLI::Option* option : app.get_options()) {
    for (std::string& name : flag_names(*option)) flags.push_back(std::move(name));
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

/// The suggestion for an unknown flag: one of `flags`, or --set with the key of a run file and
/// `value` ("" as VALUE), in the optimizer that `run` names. "" if nothing is near. Keys are
/// suggested only if `flags` has --set.
std::string meant_by(const std::string& flag, const std::string& value,
                     std::span<const std::string> flags, const config::Node& run) {
  const auto has = [&](const std::string& name) {
    return std::find(flags.begin(), flags.end(), name) != flags.end();
  };
  const auto flag_of = [&](const std::string& name) -> std::string {
    const auto known = std::ranges::find_if(
        flags, [&](const std::string& other) { return bare_name(other) == name; });
    return known == flags.end() ? "" : *known;
  };
  std::string name = bare_name(flag);
  if (const std::string known = flag_of(name); !known.empty()) return known;
  if (const config::ForeignWord* foreign = foreign_flag(name)) {
    name = foreign->here;
    if (has(name)) return name;
    if (has("--" + name)) return "--" + name;
  }
  const KeyPath* key = has("--set") ? find_key(name, run) : nullptr;
  if (key == nullptr) {
    std::vector<std::string> names, keys;
    for (const std::string& known : flags) names.push_back(bare_name(known));
    if (const std::string near = config::nearest(name, names); !near.empty()) return flag_of(near);
    if (!has("--set")) return "";
    for (const KeyPath& path : key_paths()) keys.push_back(last_key(path.path));
    key = find_key(config::nearest(name, keys), run);
    if (key == nullptr) return "";
  }
  return "--set " + key->path + "=" + (value.empty() ? "VALUE" : value);
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

/// What is missing in a command, or too much, with its usage; `error` for any other mistake.
std::string wrong_words(const CLI::App& verb, const CLI::ParseError& error,
                        const std::vector<std::string>& extra) {
  const CLI::App* app = &verb;
  std::string name = "train " + verb.get_name();
  for (; !app->get_subcommands().empty(); name += " " + app->get_name()) {
    app = app->get_subcommands().front();
  }
  std::vector<std::string> words;
  const auto is = [&](CLI::ExitCodes code) {
    return error.get_exit_code() == static_cast<int>(code);
  };
  const bool missing = is(CLI::ExitCodes::RequiredError);
  if (!missing && !is(CLI::ExitCodes::ExtrasError)) return error.what();
  if (missing) {
    for (const CLI::Option* option : app->get_options()) {
      if (option->get_required() && option->count() == 0) words.push_back(usage_of(*option));
    }
  } else {
    for (const std::string& word : extra) words.push_back(shell_quoted(word));
  }
  if (words.empty()) return error.what();
  return "'" + name + "' " + (missing ? "needs " : "has no use for ") + joined(words) +
         "; usage: " + usage_line(*app, name);
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
  return {command.empty() ? wrong_words(verb, error, app.remaining(true)) : command};
}

}  // namespace trainyard::cli
