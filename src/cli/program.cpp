#include "cli/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/text.h"
#include "cli/verbs.h"
#include "cli/version.h"
#include "config/diagnostics.h"

namespace trainyard::cli {
namespace {

struct Verb {
  const char* name;
  const char* help;
  DeclareVerb declare;
};

constexpr std::array kVerbs{
    Verb{"train", "train a model (the default verb)", declare_train},
    Verb{"resume", "go on with a run from its newest good checkpoint", declare_resume},
    Verb{"check", "check config, data and memory with one batch; writes nothing", declare_check},
    Verb{"summary", "list the layers of a network", declare_summary},
    Verb{"schema", "print the JSON Schema or the reference of the YAML files", declare_schema},
    Verb{"bench", "measure the speed of training steps", declare_bench},
    Verb{"data", "make data sets", declare_data},
    Verb{"doctor", "say what this machine offers and what training on a GPU lacks", declare_doctor},
};

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// `train --config x` is `train train --config x`.
std::vector<std::string> with_default_verb(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool flag = !arguments.empty() && arguments[0].starts_with("-");
  const bool own =
      flag && (arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "--version");
  if (flag && !own) arguments.insert(arguments.begin(), "train");
  return arguments;
}

std::string quoted_command(int argc, char** argv) {
  std::string command = "train";
  for (int i = 1; i < argc; ++i) command += " " + shell_quoted(argv[i]);
  return command;
}

/// libgomp spins between parallel loops, which is ruinous where cores are shared (two processes of
/// two threads on two cores: three times slower) and worth 4 % alone. It reads its settings when it
/// is loaded, so the program runs itself once more with a bounded spin, unless the user set one.
void bound_spinning(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  setenv("GOMP_SPINCOUNT", "1000", 1);
  // By its own path, not through /proc/self/exe, which would make its name "exe" in process lists.
  std::error_code unreadable;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", unreadable);
  if (!unreadable) execv(self.c_str(), argv);  // on failure the program goes on with the default
}

/// True for "path:line:column: text".
bool begins_with_position(const std::string& message) {
  const std::string place = message.substr(0, message.find(": "));
  const std::vector<std::string> parts = split(place, ':');
  return parts.size() >= 3 && parse_integer(parts[parts.size() - 1]).has_value() &&
         parse_integer(parts[parts.size() - 2]).has_value();
}

void print_error(const std::string& message) {
  std::fprintf(stderr, "%s%s\n",
               begins_with_position(message) ? "" : "train: error: ", message.c_str());
}

/// What CLI11 found wrong, with the nearest flag or verb.
int report_command_line(const CLI::App& app, const CLI::ParseError& error,
                        const std::vector<std::string>& arguments) {
  if (error.get_exit_code() == 0) return app.exit(error);
  std::string message = error.what();
  std::vector<std::string> known;
  const auto collect = [&](const CLI::App& level) {
    for (const CLI::Option* option : level.get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
  };
  collect(app);
  for (const CLI::App* verb : app.get_subcommands(nullptr)) {
    if (!arguments.empty() && verb->get_name() == arguments[0]) collect(*verb);
    known.push_back(verb->get_name());
  }
  for (const std::string& argument : arguments) {
    const std::string word = argument.substr(0, argument.find('='));
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      message += config::suggestion(word, known);
    }
  }
  std::fprintf(stderr, "train: error: %s\nsee 'train --help'\n", message.c_str());
  return static_cast<int>(ErrorKind::command_line);
}

int parse_and_run(int argc, char** argv) {
  const Surroundings surroundings{.command = quoted_command(argc, argv),
                                  .arguments = std::vector<std::string>(argv + 1, argv + argc),
                                  .program = argv[0],
                                  .now = steady_seconds,
                                  .started = steady_seconds()};
  CLI::App app("train: neural networks from YAML files");
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  std::array<Action, kVerbs.size()> actions;
  for (std::size_t i = 0; i < kVerbs.size(); ++i) {
    CLI::App* verb = app.add_subcommand(kVerbs[i].name, kVerbs[i].help);
    kVerbs[i].declare(*verb, surroundings, actions[i]);
  }
  std::vector<std::string> arguments = with_default_verb(argc, argv);
  const std::vector<std::string> typed = arguments;
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return report_command_line(app, error, typed);
  }
  for (std::size_t i = 0; i < kVerbs.size(); ++i) {
    if (app.got_subcommand(kVerbs[i].name)) return actions[i]();
  }
  return static_cast<int>(ErrorKind::bug);
}

/// Results that did not reach their place are an error, as on a full disk behind `> file`.
int with_results_written(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  throw Error(ErrorKind::disk, std::string("cannot write to standard output: ") +
                                   std::strerror(errno) + "; make room, or write elsewhere");
}

}  // namespace

int run_program(int argc, char** argv) {
  bound_spinning(argv);
  try {
    return with_results_written(parse_and_run(argc, argv));
  } catch (const Error& error) {
    print_error(error.what());
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    print_error("out of host memory; use a smaller batch or a smaller data set");
    return static_cast<int>(ErrorKind::memory);
  } catch (const std::exception& error) {
    print_error(
        fmt::format("internal error: {}; this is a bug of train, please report it", error.what()));
    return static_cast<int>(ErrorKind::bug);
  }
}

}  // namespace trainyard::cli
