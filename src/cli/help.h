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

}  // namespace trainyard::cli
