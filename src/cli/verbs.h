// The verbs. To add one: write a file cli/verb_x.cpp with a function that declares its flags and
// sets its action, and add its name and its row below.
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
  RankIdentity identity = {};  // this process's, once in_ranks() has found it; else one rank
};

/// Declares a verb on `app` and stores its work in `action`, which runs after parsing and returns
/// the exit code.
using Action = std::function<int()>;
using DeclareVerb = void(CLI::App& app, const Context& context, Action& action);

DeclareVerb declare_train, declare_resume, declare_configs, declare_init, declare_data,
    declare_browse, declare_check, declare_summary, declare_schema, declare_find_lr, declare_sweep,
    declare_compare, declare_diff, declare_plot, declare_eval, declare_predict, declare_generate,
    declare_export, declare_import, declare_bench, declare_doctor, declare_completion, declare_man;

/// A verb as --help, its manual page and its completion show it.
struct Verb {
  const char* heading;  // heading of its group in --help
  const char* name;
  const char* help;
  const char* example;
  DeclareVerb* declare;
};

/// Every verb, in the order of --help. `train` itself is the first; its flags are the program's.
inline constexpr Verb kVerbs[] = {
    {"Training", "train", "train a model (the default verb)",
     "train --config quickstart --epochs 2 --set optimizer.sgd.lr=0.01", declare_train},
    {"Training", "resume", "continue a run from its newest valid checkpoint",
     "train resume runs/quickstart --max-time 2h", declare_resume},
    {"Before training", "configs", "list the shipped configs and networks", "train configs",
     declare_configs},
    {"Before training", "init", "generate a starter config and network for your data",
     "train init photos/ --out work", declare_init},
    {"Before training", "data", "fetch, make, pack and read data sets", "train data get cifar10",
     declare_data},
    {"Before training", "browse", "preview augmented samples",
     "train browse quickstart --draws 4 -o samples.png", declare_browse},
    {"Before training", "check", "check config, data and memory with one batch",
     "train check work/photos.yaml", declare_check},
    {"Before training", "summary", "list the layers of a network",
     "train summary quickstart --svg network.svg", declare_summary},
    {"Before training", "schema", "print the reference or JSON Schema of the YAML",
     "train schema --reference", declare_schema},
    {"Searching", "find-lr", "find a learning rate by raising it from step to step",
     "train find-lr quickstart -o rates.png", declare_find_lr},
    {"Searching", "sweep", "train one config with many values of its keys",
     "train sweep quickstart --grid optimizer.sgd.lr=0.01,0.1 --seeds 3", declare_sweep},
    {"Looking at runs", "compare", "compare runs in a table",
     "train compare 'runs/lr-*' --by optimizer.sgd.lr --sort val_loss", declare_compare},
    {"Looking at runs", "diff", "list what differs between the configs of two runs",
     "train diff runs/quickstart/0001 runs/quickstart/0002", declare_diff},
    {"Looking at runs", "plot", "draw the curves of runs, or a schedule",
     "train plot runs/quickstart --smooth 0.9 -o curves.png", declare_plot},
    {"Using a model", "eval", "evaluate a model: loss, metrics, classes, mistakes",
     "train eval runs/quickstart", declare_eval},
    {"Using a model", "predict", "predict classes or values of new samples",
     "train predict runs/photos holiday/ --csv", declare_predict},
    {"Using a model", "generate", "write text with a model of tokens",
     "train generate runs/book --prompt 'Once upon'", declare_generate},
    {"Using a model", "export", "export a model: ONNX, safetensors",
     "train export runs/photos --onnx photos.onnx --preprocess", declare_export},
    {"Using a model", "import", "convert another framework's weights",
     "train import resnet.safetensors --config tuned.yaml -o init.safetensors", declare_import},
    {"Tools", "bench", "measure the speed of training steps", "train bench quickstart --layers",
     declare_bench},
    {"Tools", "doctor", "report what this machine offers, or the state of a run",
     "train doctor runs/quickstart", declare_doctor},
    {"Tools", "completion", "print a shell's completion script", "source <(train completion bash)",
     declare_completion},
    {"Tools", "man", "print a manual page, or write them all", "train man sweep | man -l -",
     declare_man},
};

}  // namespace trainyard::cli
