// The text of --help: at most 80 columns, that of a verb fits a screen.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace trainyard::cli {

class HelpText final : public CLI::FormatterBase {
 public:
  [[nodiscard]] std::string make_help(const CLI::App* app, std::string name,
                                      CLI::AppFormatMode mode) const override;
};

/// `text` in lines of at most 80 columns; all begin at `indent`, to which the first one is already
/// indented.
[[nodiscard]] std::string wrapped(const std::string& text, std::size_t indent);
/// "-o", "--output"; none of an argument.
[[nodiscard]] std::vector<std::string> flag_names(const CLI::Option& option);
/// "--config FILE", or FILE if it has no flag.
[[nodiscard]] std::string usage_of(const CLI::Option& option);
/// The arguments, or the flags, that help lists.
[[nodiscard]] std::vector<const CLI::Option*> shown_options(const CLI::App& app, bool arguments);
/// The help text, the default, and the flags it requires.
[[nodiscard]] std::string text_of(const CLI::Option& option);
/// "; not with --csv": the flags that it excludes, which manual pages list; or "".
[[nodiscard]] std::string exclusions_of(const CLI::Option& option);
/// "train check --config FILE [FLAGS]", where `name` is "train check".
[[nodiscard]] std::string usage_line(const CLI::App& app, const std::string& name);

}  // namespace trainyard::cli
