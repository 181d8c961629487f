// `train completion`: scripts by which shells ask this program what may come next. All of it is
// declared elsewhere: verbs and flags to CLI11, the words of a flag as its type name (cli|json),
// keys to config::Fields.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/filesystem.h"
#include "base/text.h"
#include "cli/checks.h"
#include "cli/completion_files.h"  // made of the folder completion (CMakeLists.txt)
#include "cli/help.h"
#include "cli/meant.h"
#include "cli/named_run.h"
#include "cli/output.h"
#include "cli/run_flags.h"
#include "cli/shell_line.h"
#include "cli/verbs.h"
#include "run/config/key_paths.h"

namespace trainyard::cli {
namespace {

/// A word as a whole; one that ends in '.', '=' or '/' is to be continued.
struct Candidate {
  std::string text;
  std::string help;
};

/// `paths`: what a shell lists if there are no candidates.
struct Completion {
  enum class Paths { none, folders, files };
  std::vector<Candidate> candidates = {};
  Paths paths = Paths::none;
};

using Paths = Completion::Paths;

constexpr std::array<std::string_view, 6> kFileTypes = {"FILE", "PATH",     "CHECKPOINT",
                                                        "DATA", "INPUT...", "SOURCE"};

/// A word as far as it is typed, behind `kept`, and what it may become.
struct Word {
  std::string kept, typed;
  Completion found = {};

  void add(const std::string& text, const std::string& help = "") {
    const std::string whole = kept + text;
    const bool known = std::ranges::any_of(
        found.candidates, [&](const Candidate& other) { return other.text == whole; });
    if (text.starts_with(typed) && !known) found.candidates.push_back({whole, help});
  }
  void add(Paths paths) { found.paths = std::max(found.paths, paths); }
};

/// What the words before are.
struct Place {
  const CLI::App* app;                   // the program, a verb, or a command of one
  const CLI::Option* pending = nullptr;  // a flag whose value is next
  std::set<const CLI::Option*> given = {};

  [[nodiscard]] bool open(const CLI::Option* option) const {
    return option->get_items_expected_max() > 1 || !given.contains(option);
  }
};

void offer_commands(const CLI::App& app, Word& word) {
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    word.add(command->get_name(), command->get_description());
  }
}

void offer_flags(const CLI::App& app, const Place& place, Word& word) {
  for (const CLI::Option* option : app.get_options()) {
    if (!place.open(option) || option->get_group().empty()) continue;
    for (const std::string& name : flag_names(*option)) word.add(name, option->get_description());
  }
}

/// YAML files of this folder, and those of `configs` by name.
void offer_run_files(const std::vector<fs::path>& configs, Word& word) {
  std::set<std::string> names;
  for (const fs::path& folder : configs) {
    for (const fs::path& file : yaml_files(folder)) names.insert(file.stem());
  }
  for (const fs::path& file : yaml_files(".")) names.insert(file.filename());
  for (const std::string& name : names) word.add(name);
}

/// Runs of the folder that is typed, or without one of this folder and of `runs`.
void offer_runs(Word& word) {
  const std::string typed = word.typed.substr(0, word.typed.find_last_of('/') + 1);
  for (const std::string& folder : {typed, typed.empty() ? "runs/" : typed}) {
    std::error_code ignored;
    const fs::path place = folder.empty() ? "." : folder;
    if (!fs::is_directory(place, ignored)) continue;
    for (const fs::path& run : runs_below(place)) word.add(folder + run.filename().string());
  }
}

/// Keys of run files up to their next dot, or the words that are values of one: the last of several
/// that commas part.
void offer_keys(Word& word) {
  const std::string typed = word.typed;
  const std::size_t equals = typed.find('=');
  const std::string before = typed.substr(0, typed.find_last_of("=,") + 1);
  for (const KeyPath& key : key_paths()) {
    const std::size_t dot = key.path.find('.', typed.size());
    if (equals != typed.npos) {
      if (key.path != typed.substr(0, equals)) continue;
      for (const std::string& value : key.words) word.add(before + value);
    } else if (dot != key.path.npos) {
      word.add(key.path.substr(0, dot + 1));
    } else if (key.type != "map" || !key.words.empty()) {
      word.add(key.path + "=", key.help);
    }
  }
}

void offer_values(const CLI::App& program, const CLI::Option& option, Word& word) {
  for (const std::string& type : split(option.get_type_name(), '|')) {
    const std::string first = split(type, ' ').front();
    if (type == lower_case(type)) word.add(type);
    if (type == "VERB") offer_commands(program, word);
    if (type.starts_with("KEY=")) offer_keys(word);
    if (type.starts_with("RUN")) offer_runs(word);
    if (type.starts_with("RUN") || type == "FOLDER") word.add(Paths::folders);
    if (std::ranges::find(kFileTypes, first) != kFileTypes.end()) word.add(Paths::files);
  }
  for (const std::string& name : flag_names(option)) {
    if (name == "--config" || name == "--schedule") offer_run_files(config_folders(), word);
    if (name != "--suite") continue;
    for (const fs::path& suite : known_suites()) word.add(suite.stem());
  }
}

/// The argument of the verb that is next, if it takes one more.
const CLI::Option* next_argument(const Place& place) {
  const auto options = place.app->get_options(
      [&](const CLI::Option* option) { return option->get_positional() && place.open(option); });
  return options.empty() ? nullptr : options.front();
}

/// Moves behind `text`. False if nothing may follow it.
bool pass(const std::string& text, Place& place) {
  const CLI::Option* option = std::exchange(place.pending, nullptr);
  if (option != nullptr) return true;
  if (text.starts_with('-')) {
    option = place.app->get_option_no_throw(text.substr(0, text.find('=')));
    const bool takes = option != nullptr && option->get_items_expected_max() > 0;
    if (takes && text.find('=') == text.npos) place.pending = option;
  } else if (const auto commands = place.app->get_subcommands(nullptr); !commands.empty()) {
    const auto named = std::ranges::find(commands, text, &CLI::App::get_name);
    if (named == commands.end()) return false;
    place.app = *named;
  } else {
    option = next_argument(place);
  }
  place.given.insert(option);
  return true;
}

Completion complete(const CLI::App& program, const Place& place, const std::string& text) {
  const std::size_t equals = text.find('=');
  const bool flag = place.pending == nullptr && text.starts_with('-');
  const CLI::Option* option =
      place.pending == nullptr && !flag ? next_argument(place) : place.pending;
  if (flag && equals != text.npos) option = place.app->get_option_no_throw(text.substr(0, equals));
  const std::size_t kept = flag && option != nullptr ? equals + 1 : 0;
  Word word{text.substr(0, kept), text.substr(kept)};
  const bool first = place.app == &program;
  if (option != nullptr) {
    offer_values(program, *option, word);
  } else if (flag) {
    if (first) offer_flags(*program.get_subcommand("train"), place, word);
    offer_flags(*place.app, place, word);
  } else {
    offer_commands(*place.app, word);
    if (first && !text.empty()) offer_run_files({}, word);
    if (first) word.add(Paths::files);
  }
  return word.found;
}

/// The completion of the last of `words`, which follow the name of the program. Without quotes.
Completion completion_of(const CLI::App& program, std::vector<std::string> words) {
  if (words.empty()) return {};
  if (words.size() > 1 && words.front() == "help") words.erase(words.begin());
  // A first word is a verb's, or the path or flag that stands for `train`.
  if (words.size() > 1 || words.front().find('=') != std::string::npos) {
    words = with_verb(std::move(words));
  }
  Place place{&program};
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (!pass(words[i], place)) return {};
  }
  return complete(program, place, words.back());
}

/// A line for each candidate, its text and its help with a tab between, or ":files" or ":folders".
std::string completion_lines(const Completion& completion) {
  if (completion.candidates.empty()) {
    if (completion.paths == Paths::none) return "";
    return completion.paths == Paths::files ? ":files\n" : ":folders\n";
  }
  std::string lines;
  for (const Candidate& candidate : completion.candidates) {
    if (candidate.text.find_first_of("\t\n") != std::string::npos) continue;
    lines += candidate.text + "\t" + candidate.help + "\n";
  }
  return lines;
}

struct CompletionFlags {
  std::string shell;
  std::string line;    // as far as it is typed
  std::string before;  // for bash: the part of it that stays
};

/// What follows in `line`; in bash as it is inserted behind `before`, the part of the line that
/// stays: there a word begins after each character of COMP_WORDBREAKS, and is quoted by us.
Completion answer(const CompletionFlags& flags, const CLI::App& program) {
  const std::vector<ShellWord> words = shell_words(flags.line);
  std::vector<std::string> texts;
  for (std::size_t i = 1; i < words.size(); ++i) texts.push_back(words[i].text);
  Completion completion = completion_of(program, std::move(texts));
  if (flags.before.empty()) return completion;
  const std::size_t kept = shell_words(flags.before).back().text.size();
  for (Candidate& candidate : completion.candidates) {
    candidate.text = typed_text(candidate.text.substr(std::min(kept, candidate.text.size())),
                                words.back().quote);
  }
  return completion;
}

}  // namespace

void declare_completion(CLI::App& app, const Context&, Action& action) {
  auto flags =
      std::make_shared<CompletionFlags>();  // shared with the action, which outlives parsing
  CLI::Option* const shell = app.add_option("shell", flags->shell, "whose script to print");
  take_one_of(shell->required(), {"bash", "zsh", "fish"});
  app.add_option("--line", flags->line, "asked by the scripts")->group("")->type_name("TEXT");
  app.add_option("--before", flags->before, "asked by that of bash")->group("")->type_name("TEXT");
  action = [&app, flags] {
    if (!flags->line.empty()) {
      print_data(completion_lines(answer(*flags, *app.get_parent())));
    } else {
      const auto script = std::ranges::find(kCompletionFiles, "train." + flags->shell,
                                            [](const auto& file) { return file.first; });
      print_data(script->second);
    }
    return 0;
  };
}

}  // namespace trainyard::cli
