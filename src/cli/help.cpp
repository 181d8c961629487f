#include "cli/help.h"

#include <string_view>

#include "base/text.h"

namespace trainyard::cli {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kColumn = 26;  // where help texts begin
constexpr std::string_view kDefaultVerb = "train";

}  // namespace

std::string wrapped(const std::string& text, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  for (const std::string& word : split(text, ' ')) {
    if (column > indent && column + 1 + word.size() > kWidth) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

namespace {

/// "  --threads N          CPU threads".
std::string row(const std::string& left, const std::string& text) {
  std::string out = "  " + left;
  out += out.size() + 1 < kColumn ? std::string(kColumn - out.size(), ' ')
                                  : "\n" + std::string(kColumn, ' ');
  return out + wrapped(text, kColumn) + "\n";
}

std::string names_of(const CLI::Option& option) { return joined(flag_names(option)); }

bool is_argument(const CLI::Option& option) { return flag_names(option).empty(); }

}  // namespace

std::vector<std::string> flag_names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::string usage_of(const CLI::Option& option) {
  const std::string names = names_of(option);
  const bool takes = option.get_items_expected_max() > 0;
  if (names.empty()) return option.get_type_name();
  return takes ? names + " " + option.get_type_name() : names;
}

std::vector<const CLI::Option*> shown_options(const CLI::App& app, bool arguments) {
  std::vector<const CLI::Option*> shown;
  for (const CLI::Option* option : app.get_options()) {
    const bool hidden = option->get_group().empty();
    if (!hidden && is_argument(*option) == arguments) shown.push_back(option);
  }
  return shown;
}

namespace {

std::string flag_list(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back(names_of(*option));
  return joined(names);
}

}  // namespace

std::string text_of(const CLI::Option& option) {
  std::string text = option.get_description();
  const std::string& value = option.get_default_str();
  const bool known = !value.empty() && value != "[]" && value != "{}";
  if (option.get_type_size() != 0 && known) text += " (default: " + value + ")";
  if (!option.get_needs().empty()) text += "; with " + flag_list(option.get_needs());
  return text;
}

std::string exclusions_of(const CLI::Option& option) {
  return option.get_excludes().empty() ? "" : "; not with " + flag_list(option.get_excludes());
}

namespace {

/// "\nArguments:\n" with the words, or "\nFlags:\n" with the flags; "" without any.
std::string rows_of(const CLI::App& app, bool arguments, const std::string& heading) {
  std::string out;
  for (const CLI::Option* option : shown_options(app, arguments)) {
    out += row(usage_of(*option), text_of(*option));
  }
  return out.empty() ? "" : "\n" + heading + ":\n" + out;
}

std::string command_rows(const CLI::App& app) {
  std::string out;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    out += row(command->get_name(), command->get_description());
  }
  return out;
}

/// The verbs under the headings of their groups.
std::string verb_rows(const CLI::App& app) {
  std::string out, heading;
  for (const CLI::App* verb : app.get_subcommands(nullptr)) {
    if (verb->get_name() == kDefaultVerb) continue;
    if (verb->get_group() != heading) out += verb->get_group() + ":\n";
    heading = verb->get_group();
    out += row(verb->get_name(), verb->get_description());
  }
  return out;
}

std::string example_of(const CLI::App& app) {
  return app.get_footer().empty() ? "" : "\nExample: " + app.get_footer() + "\n";
}

std::string program_help(const CLI::App& app, const CLI::App& train) {
  return app.get_description() + "\n\nUsage: " + usage_line(train, app.get_name()) + "\n       " +
         app.get_name() + " VERB [FLAGS]\n" + example_of(train) +
         "\nVerbs, with flags in 'train VERB --help' ('train train --help' for training)\n" +
         verb_rows(app) + rows_of(app, false, "Flags");
}

}  // namespace

std::string usage_line(const CLI::App& app, const std::string& name) {
  std::string out = name;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_required()) {
      out += " " + usage_of(*option);
    } else if (is_argument(*option)) {
      out += " [" + usage_of(*option) + "]";
    }
  }
  if (!app.get_subcommands(nullptr).empty()) return out + " COMMAND";
  return out + " [FLAGS]";
}

std::string HelpText::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const {
  if (app->get_parent() == nullptr)
    return program_help(*app, *app->get_subcommand(kDefaultVerb.data()));
  if (app->get_name() == kDefaultVerb) name = kDefaultVerb;
  std::string out = name + ": " + app->get_description();
  out = wrapped(out, 0) + "\n\nUsage: " + usage_line(*app, name) + "\n";
  const std::string commands = command_rows(*app);
  if (!commands.empty()) out += "\nCommands:\n" + commands;
  return out + example_of(*app) + rows_of(*app, true, "Arguments") + rows_of(*app, false, "Flags");
}

}  // namespace trainyard::cli
