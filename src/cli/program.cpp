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
#include <map>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/filesystem.h"
#include "base/text.h"
#include "cli/help.h"
#include "cli/meant.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "cli/version.h"

namespace trainyard::cli {
namespace {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string quoted_command(int argc, char** argv) {
  std::string command = "train";
  for (int i = 1; i < argc; ++i) command += " " + shell_quoted(argv[i]);
  return command;
}

/// libgomp spins between parallel loops, which is ruinous if cores are shared (two processes of two
/// threads on two cores: three times slower) and otherwise gains 4 %. It reads its settings when it
/// is loaded, so the program executes itself again with a bounded spin, unless the user set one.
/// Not for an answer to a shell, which takes half the time without.
void bound_spinning(char** argv) {
  if (argv[0] != nullptr && argv[1] != nullptr && argv[1] == std::string_view("completion")) return;
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  setenv("GOMP_SPINCOUNT", "1000", 1);
  // By its own path: /proc/self/exe would make its name "exe" in process lists.
  std::error_code unreadable;
  const fs::path self = fs::read_symlink("/proc/self/exe", unreadable);
  if (!unreadable) execv(self.c_str(), argv);  // on failure the default applies
}

/// Reports the mistakes in the command line, with suggestions. Returns the exit code.
int report_command_line(const CLI::App& app, const CLI::ParseError& error,
                        const std::vector<std::string>& arguments, Messages& messages) {
  if (error.get_exit_code() == 0) return app.exit(error);
  constexpr int kExitCode = static_cast<int>(ErrorKind::command_line);
  for (const std::string& message : mistakes(app, error, arguments)) {
    messages.fail(message, kExitCode);
  }
  const auto verbs = app.get_subcommands(
      [&](const CLI::App* verb) { return !arguments.empty() && verb->get_name() == arguments[0]; });
  const bool of_verb = !verbs.empty() && arguments[0] != "train";  // its flags are the program's
  messages.note("see 'train " + (of_verb ? arguments[0] + " " : "") + "--help'");
  return kExitCode;
}

/// A flag with '' would be taken as not given, but for those that are texts.
void refuse_empty_values(const CLI::App& verb) {
  constexpr std::array<std::string_view, 3> kTexts = {"--prompt", "--text", "--title"};
  for (const CLI::Option* option : verb.get_options()) {
    const std::vector<std::string>& values = option->results();
    const bool text = std::ranges::find(kTexts, option->get_name()) != kTexts.end();
    if (text || std::ranges::find(values, "") == values.end()) continue;
    refuse_command(option->get_name() + ": '' is not a value; give one, or leave it out");
  }
  for (const CLI::App* part : verb.get_subcommands()) refuse_empty_values(*part);
}

int parse_and_run(int argc, char** argv, Messages& messages) {
  const Context context{.command = quoted_command(argc, argv),
                        .arguments = std::vector<std::string>(argv + 1, argv + argc),
                        .program = argv[0],
                        .now = steady_seconds,
                        .started = steady_seconds(),
                        .messages = messages};
  CLI::App app("train: neural networks from YAML files", "train");
  app.formatter(std::make_shared<HelpText>());
  app.option_defaults()->always_capture_default();
  // The last of a repeated flag counts, as aliases and scripts expect; lists collect all.
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.set_help_flag("-h,--help", "print this help and exit");
  app.set_version_flag("--version", version_report,
                       "print the version, commit and build, and exit");
  app.require_subcommand(1);
  std::map<std::string, Action> actions;
  for (const Verb& verb : kVerbs) {
    CLI::App* own = app.add_subcommand(verb.name, verb.help);
    verb.declare(*own, context, actions[verb.name]);
    own->group(verb.heading)->footer(verb.example);
  }
  std::vector<std::string> arguments = with_verb({argv + 1, argv + argc});
  const std::vector<std::string> typed = arguments;
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return report_command_line(app, error, typed, messages);
  }
  refuse_empty_values(app);
  return actions.at(app.get_subcommands().front()->get_name())();
}

/// Results that could not be written are an error, as with `> file` on a full disk.
int with_results_written(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  throw disk_error(
      std::string("cannot write to standard output: ") + std::strerror(errno) +
      (code == 0 ? "; the command itself is done, only what it printed is lost: " : "; ") +
      "make room, or write elsewhere");
}

}  // namespace

int run_program(int argc, char** argv) {
  bound_spinning(argv);
  Messages messages(asks_for_events({argv + 1, argv + argc}));
  const auto fail = [&](const std::string& text, ErrorKind kind) {
    messages.fail(text, static_cast<int>(kind));
    return static_cast<int>(kind);
  };
  try {
    return with_results_written(parse_and_run(argc, argv, messages));
  } catch (const Error& error) {
    return fail(error.what(), error.kind());
  } catch (const std::bad_alloc&) {
    return fail("out of host memory; use a smaller batch or a smaller data set", ErrorKind::memory);
  } catch (const std::system_error& error) {
    // Thrown by std::thread if no thread can be started.
    if (error.code() != std::errc::resource_unavailable_try_again) throw;
    return fail(
        "a thread could not be started; raise the limits on memory (ulimit -v) and processes "
        "(ulimit -u), or use fewer 'threads' and 'data.workers'",
        ErrorKind::memory);
  } catch (const std::exception& error) {
    return fail(
        fmt::format("internal error: {}; this is a bug of train, please report it", error.what()),
        ErrorKind::bug);
  }
}

}  // namespace trainyard::cli
