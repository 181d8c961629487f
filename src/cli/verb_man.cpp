// `train man`: manual pages, from what the verbs declare.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "cli/help.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "cli/version.h"
#include "config/diagnostics.h"

namespace trainyard::cli {
namespace {

struct Fact {
  std::string_view name, meaning;
};

/// See ErrorKind.
constexpr std::array kExitCodes = {
    Fact{"0", "done"},
    Fact{"1", "a bug of train: please report it"},
    Fact{"2", "command line: flags or environment ask for something impossible"},
    Fact{"3", "config: a run file or network file has an error, which is named with its line"},
    Fact{"4", "data: samples cannot be read"},
    Fact{"5", "diverged: a loss or gradient was not finite"},
    Fact{"6", "memory: the run needs more than there is"},
    Fact{"7", "disk: a file cannot be written"},
    Fact{"8", "device: a GPU or another rank failed or is missing"},
    Fact{"9", "checkpoint: weights or a checkpoint cannot be used"},
    Fact{"75", "stopped by its own limit (--max-time), with the work saved"},
};
constexpr std::array kVariables = {
    Fact{"TRAINYARD_DATA", "the folder of known data sets; without it data"},
    Fact{"TRAINYARD_CUDA_PATH",
         "a folder with NVIDIA's libraries, searched first; then those of "
         "CUDA_HOME, VIRTUAL_ENV and CONDA_PREFIX"},
    Fact{"TRAINYARD_GPU_PART", "the file of the GPU part, instead of the one beside the program"},
    Fact{"TRAINYARD_TOKEN", "a string that all ranks of a job share, under other launchers"},
    Fact{"XDG_CACHE_HOME", "the folder of caches; without it .cache in HOME"},
    Fact{"CUDA_MPS_PIPE_DIRECTORY", "where NVIDIA's MPS has its pipes"},
    Fact{"OMP_WAIT_POLICY, GOMP_SPINCOUNT", "of the threads; without them waits spin briefly"},
    Fact{"COLUMNS, TERM, LC_ALL, LC_CTYPE, LANG",
         "the width of tables, and whether the bar of "
         "progress is drawn, and of which characters"},
    Fact{"PATH", "where gnuplot, mpirun, rsync and ssh are found"},
};
constexpr std::array kFiles = {
    Fact{"configs/NAME.yaml", "run files that --config finds by name; also in share/trainyard"},
    Fact{"runs/NAME/0001",
         "a run: metrics.csv, plots, weights, checkpoints, config.yaml with every "
         "default, status.json"},
    Fact{"sweeps/NAME", "the runs of a sweep and their tables"},
    Fact{"~/.cache/trainyard", "timed engines, sizes of images; may be deleted"},
};

/// What roff would print otherwise, or take as its own.
constexpr std::array<std::pair<char, std::string_view>, 6> kLetters = {
    {{'\\', "\\e"}, {'-', "\\-"}, {'\'', "\\(aq"}, {'`', "\\(ga"}, {'^', "\\(ha"}, {'~', "\\(ti"}}};

/// `text` as roff prints it, to the letter: no word begins a request.
std::string escaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '.' && (i == 0 || text[i - 1] == ' ')) out += "\\&";
    const auto* const special =
        std::ranges::find_if(kLetters, [&](const auto& letter) { return letter.first == text[i]; });
    out += special == kLetters.end() ? text.substr(i, 1) : special->second;
  }
  return out;
}

std::string paragraph(std::string_view text) { return wrapped(escaped(text), 0) + "\n"; }

std::string bold(std::string_view text) { return "\\fB" + escaped(text) + "\\fR"; }

std::string section(const std::string& heading, const std::string& text) {
  return text.empty() ? "" : ".SH " + heading + "\n" + text;
}

std::string tagged(const std::string& name, std::string_view text) {
  return ".TP\n" + bold(name) + "\n" + paragraph(text);
}

std::string tagged(std::span<const Fact> facts) {
  std::string out;
  for (const Fact& fact : facts) out += tagged(std::string(fact.name), fact.meaning);
  return out;
}

std::string tagged(const std::vector<const CLI::Option*>& options) {
  std::string out;
  for (const CLI::Option* option : options) {
    out += tagged(usage_of(*option), text_of(*option) + exclusions_of(*option));
  }
  return out;
}

std::string example(const CLI::App& verb) { return ".nf\n" + bold(verb.get_footer()) + "\n.fi\n"; }

/// The name of a verb's page: "train-check"; "train" of the program and of its default verb.
std::string page_name(const CLI::App& verb) {
  const bool own = verb.get_parent() != nullptr && verb.get_name() != "train";
  return own ? "train-" + verb.get_name() : "train";
}

std::string name_and_synopsis(const CLI::App& app, const std::string& name) {
  const CLI::App* root = app.get_parent();
  const bool program = root == nullptr;
  const CLI::App& used = program ? *app.get_subcommand("train") : app;
  std::string title = page_name(app);
  std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
  return ".TH " + escaped(title) + " 1 " + version_date() + " \"" + version_text() +
         "\" Trainyard\n" +
         section("NAME", wrapped(escaped(page_name(app)) + " \\- " + escaped(name), 0) + "\n") +
         section("SYNOPSIS", bold(usage_line(used, program ? "train" : "train " + app.get_name())) +
                                 "\n" +
                                 (program ? ".br\n" + bold("train VERB [FLAGS]") + "\n" : ""));
}

/// The commands of a verb, as `data` has them, each with its flags.
std::string command_sections(const CLI::App& app, const std::string& path) {
  std::string out;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    const std::string name = path + " " + command->get_name();
    const std::string below = command_sections(*command, name);
    if (!below.empty()) {
      out += below;
      continue;
    }
    out += ".SS " + escaped(usage_line(*command, name)) + "\n" +
           paragraph(command->get_description()) + tagged(shown_options(*command, true)) +
           tagged(shown_options(*command, false));
  }
  return out;
}

std::string program_page(const CLI::App& program) {
  std::string verbs, examples, heading;
  for (const CLI::App* verb : program.get_subcommands(nullptr)) {
    if (verb->get_group() != heading) verbs += ".SS " + escaped(verb->get_group()) + "\n";
    heading = verb->get_group();
    verbs += tagged(verb->get_name(), verb->get_description());
    examples += (examples.empty() ? "" : ".PP\n") + example(*verb);
  }
  return name_and_synopsis(program, "neural networks from YAML files") +
         section("DESCRIPTION",
                 paragraph("Trains a network that two YAML files describe, a network and a run, "
                           "on the CPU or on GPUs, and writes a folder for each run. Each verb has "
                           "a page of its own, as train-check(1).")) +
         section("VERBS", verbs) +
         section("OPTIONS", "Of\n" + bold("train --config FILE") + ",\nthe default verb:\n" +
                                tagged(shown_options(*program.get_subcommand("train"), false))) +
         section("EXIT STATUS", tagged(kExitCodes)) + section("ENVIRONMENT", tagged(kVariables)) +
         section("FILES", tagged(kFiles)) + section("EXAMPLES", examples);
}

/// The page, section 1, in the language of man(7): of a verb, or of the program.
std::string man_page(const CLI::App& app) {
  if (page_name(app) == "train") {
    return program_page(app.get_parent() == nullptr ? app : *app.get_parent());
  }
  const std::string description = app.get_description();
  std::string sentence = description + ".";
  sentence.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence.front())));
  return name_and_synopsis(app, description) + section("DESCRIPTION", paragraph(sentence)) +
         section("ARGUMENTS", tagged(shown_options(app, true))) +
         section("OPTIONS", tagged(shown_options(app, false))) +
         section("COMMANDS", command_sections(app, "train " + app.get_name())) +
         section("EXIT STATUS", tagged(kExitCodes)) +
         section("ENVIRONMENT", "See\n.BR train (1).\n") +
         section("FILES", "See\n.BR train (1).\n") + section("EXAMPLES", example(app)) +
         section("SEE ALSO", ".BR train (1)\n");
}

struct ManFlags {
  std::string verb = "train", out;
};

const CLI::App& verb_named(const CLI::App& program, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::App* verb : program.get_subcommands(nullptr)) {
    if (verb->get_name() == name) return *verb;
    names.push_back(verb->get_name());
  }
  refuse_command("there is no verb '" + name + "'; 'train --help' lists them" +
                 config::suggestion(name, names));
}

void write_pages(const CLI::App& program, const fs::path& folder) {
  const Disk disk;
  disk.make_folders(folder);
  for (const CLI::App* verb : program.get_subcommands(nullptr)) {
    disk.replace_file(folder / (page_name(*verb) + ".1"), man_page(*verb));
  }
}

}  // namespace

void declare_man(CLI::App& app, const Context&, Action& action) {
  auto flags = std::make_shared<ManFlags>();  // shared with the action, which outlives parsing
  app.add_option("verb", flags->verb, "whose page to print")->type_name("VERB");
  app.add_option("--out", flags->out, "write the pages of all verbs into this folder instead")
      ->type_name("FOLDER");
  action = [&app, flags] {
    const CLI::App& program = *app.get_parent();
    if (!flags->out.empty()) {
      write_pages(program, flags->out);
    } else {
      print_data(man_page(verb_named(program, flags->verb)));
    }
    return 0;
  };
}

}  // namespace trainyard::cli
