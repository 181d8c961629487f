// The verbs. To add one: a file cli/verb_x.cpp with a function that declares its flags and sets
// what it does, and a line here and in the list of program.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "launch/rank_identity.h"

namespace CLI {
class App;
}

namespace trainyard::cli {

class Messages;

/// What every verb may know of its context.
struct Context {
  std::string command;                 // the command line as typed, shell-quoted
  std::vector<std::string> arguments;  // its words, without the program's name
  std::string program;                 // path of the program
  std::function<double()> now;         // seconds on a steady clock
  double started = 0;                  // its value when the program began
  Messages& messages;                  // outlives every verb
  RankIdentity place = {};  // of this process, once in_ranks() has found it; else one rank
};

/// Declares a verb on `app`. What it does is stored in `action`, and run after parsing; it returns
/// the exit code.
using Action = std::function<int()>;
using DeclareVerb = void (*)(CLI::App& app, const Context& context, Action& action);

void declare_train(CLI::App& app, const Context& context, Action& action);
void declare_resume(CLI::App& app, const Context& context, Action& action);
void declare_check(CLI::App& app, const Context& context, Action& action);
void declare_summary(CLI::App& app, const Context& context, Action& action);
void declare_schema(CLI::App& app, const Context& context, Action& action);
void declare_bench(CLI::App& app, const Context& context, Action& action);
void declare_data(CLI::App& app, const Context& context, Action& action);
void declare_doctor(CLI::App& app, const Context& context, Action& action);

}  // namespace trainyard::cli
