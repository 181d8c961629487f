// The text of --help: at most 80 columns, the flags of `train --config` first.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace trainyard::cli {

class HelpText final : public CLI::FormatterBase {
 public:
  [[nodiscard]] std::string make_help(const CLI::App* app, std::string name,
                                      CLI::AppFormatMode mode) const override;
};

/// "--config FILE", or FILE if it has no flag.
[[nodiscard]] std::string usage_of(const CLI::Option& option);
/// "train check --config FILE [FLAGS]", where `name` is "train check".
[[nodiscard]] std::string usage_line(const CLI::App& app, const std::string& name);

}  // namespace trainyard::cli
