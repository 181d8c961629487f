// `train completion`: scripts by which shells ask this program what may come next.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/checks.h"
#include "cli/complete.h"
#include "cli/print.h"
#include "cli/shell_line.h"
#include "cli/verbs.h"

namespace trainyard::cli {
namespace {

struct CompletionFlags {
  std::string shell;
  std::string line;    // as far as it is typed
  std::string before;  // of bash: the part of it that stays
};

constexpr const char* kBash =
    R"SCRIPT(# Completion of train for bash: source <(train completion bash)
_train() {
  local program=${1//\\/} line=${COMP_LINE:0:COMP_POINT} word
  program=${program/#\~/$HOME}
  type -P -- "$program" >/dev/null || program=train
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do
    case $word in
      :files) compopt -o default ;;
      :folders) compopt -o dirnames ;;
      *) COMPREPLY+=("$word") ;;
    esac
  done < <("$program" completion bash --line="$line" --before="${line%"$2"}" 2>/dev/null)
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[.=/] ]]; then compopt -o nospace; fi
}
complete -F _train train
)SCRIPT";

constexpr const char* kZsh = R"SCRIPT(#compdef train
# Completion of train for zsh: this file as _train in a folder of fpath, or, after compinit,
# source <(train completion zsh)
_train() {
  local line text program=${(Q)words[1]}
  local -a whole open
  program=${program/#\~/$HOME}
  whence -p -- $program >/dev/null || program=train
  line="${words[1,CURRENT-1]} $QIPREFIX$PREFIX"
  for line in ${(f)"$($program completion zsh --line="$line" 2>/dev/null)"}; do
    case $line in
      :files) compset -P '--*='; _files; return ;;
      :folders) compset -P '--*='; _files -/; return ;;
    esac
    text=${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}
    if [[ ${line%%$'\t'*} == *[.=/] ]]; then open+=($text); else whole+=($text); fi
  done
  _describe word whole -- open -S ''
}
if [[ $funcstack[1] == _train ]]; then _train "$@"; else compdef _train train; fi
)SCRIPT";

constexpr const char* kFish =
    R"SCRIPT(# Completion of train for fish: train completion fish | source
function __train_answer
    set -l program (string replace -r '^~' $HOME -- (commandline -opc)[1])
    type -q -- $program; or set program train
    $program completion fish --line=(commandline -cp | string collect) 2>/dev/null
end
complete -c train -f -a '(__train_answer | string match -v ":*")'
complete -c train -n 'string match -q :files (__train_answer)' -F
complete -c train -n 'string match -q :folders (__train_answer)' -f \
    -a '(__fish_complete_directories (commandline -ct) "")'
)SCRIPT";

/// What follows in `line`; in bash as it is inserted behind `before`, the part of the line that
/// stays: there a word begins after each character of COMP_WORDBREAKS, and is quoted by us.
Completion answer(const CompletionFlags& flags, const CLI::App& program) {
  const std::vector<ShellWord> words = shell_words(flags.line);
  std::vector<std::string> texts;
  for (std::size_t i = 1; i < words.size(); ++i) texts.push_back(words[i].text);
  Completion completion = completion_of(program, std::move(texts));
  if (flags.before.empty()) return completion;
  const std::size_t kept = shell_words(flags.before).back().text.size();
  for (Candidate& candidate : completion.candidates) {
    candidate.text = typed_text(candidate.text.substr(std::min(kept, candidate.text.size())),
                                words.back().quote);
  }
  return completion;
}

}  // namespace

void declare_completion(CLI::App& app, const Context&, Action& action) {
  auto flags =
      std::make_shared<CompletionFlags>();  // shared with the action, which outlives parsing
  CLI::Option* const shell = app.add_option("shell", flags->shell, "whose script to print");
  take_one_of(shell->required(), {"bash", "zsh", "fish"});
  app.add_option("--line", flags->line, "asked by the scripts")->group("")->type_name("TEXT");
  app.add_option("--before", flags->before, "asked by that of bash")->group("")->type_name("TEXT");
  action = [&app, flags] {
    if (!flags->line.empty()) {
      print_data(completion_lines(answer(*flags, *app.get_parent())));
    } else {
      print_data(flags->shell == "bash" ? kBash : flags->shell == "zsh" ? kZsh : kFish);
    }
    return 0;
  };
}

}  // namespace trainyard::cli
