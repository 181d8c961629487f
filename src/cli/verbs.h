// The verbs. To add one: write a file cli/verb_x.cpp with a function that declares its flags and
// sets its action, and add a line here and in the list of program.cpp.
//
// The folder cli is the only one that prints, reads the environment and knows flags; what a verb
// does is in run, inference, bench and analysis.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ranks/spawn/rank_identity.h"

namespace CLI {
class App;
}

namespace trainyard::cli {

class Messages;

/// The context of a verb.
struct Context {
  std::string command;                 // the command line as typed, shell-quoted
  std::vector<std::string> arguments;  // its words, without the program's name
  std::string program;                 // path of the program
  std::function<double()> now;         // seconds on a steady clock
  double started = 0;                  // its value when the program started
  Messages& messages;                  // outlives every verb
  RankIdentity identity = {};  // of this process, once in_ranks() has found it; else one rank
};

/// Declares a verb on `app` and stores its work in `action`, which runs after parsing and returns
/// the exit code.
using Action = std::function<int()>;
using DeclareVerb = void (*)(CLI::App& app, const Context& context, Action& action);

void declare_train(CLI::App& app, const Context& context, Action& action);
void declare_resume(CLI::App& app, const Context& context, Action& action);
void declare_check(CLI::App& app, const Context& context, Action& action);
void declare_summary(CLI::App& app, const Context& context, Action& action);
void declare_schema(CLI::App& app, const Context& context, Action& action);
void declare_bench(CLI::App& app, const Context& context, Action& action);
void declare_browse(CLI::App& app, const Context& context, Action& action);
void declare_data(CLI::App& app, const Context& context, Action& action);
void declare_eval(CLI::App& app, const Context& context, Action& action);
void declare_predict(CLI::App& app, const Context& context, Action& action);
void declare_generate(CLI::App& app, const Context& context, Action& action);
void declare_find_lr(CLI::App& app, const Context& context, Action& action);
void declare_plot(CLI::App& app, const Context& context, Action& action);
void declare_compare(CLI::App& app, const Context& context, Action& action);
void declare_diff(CLI::App& app, const Context& context, Action& action);
void declare_init(CLI::App& app, const Context& context, Action& action);
void declare_sweep(CLI::App& app, const Context& context, Action& action);
void declare_export(CLI::App& app, const Context& context, Action& action);
void declare_import(CLI::App& app, const Context& context, Action& action);
void declare_doctor(CLI::App& app, const Context& context, Action& action);
void declare_completion(CLI::App& app, const Context& context, Action& action);
void declare_man(CLI::App& app, const Context& context, Action& action);

}  // namespace trainyard::cli
