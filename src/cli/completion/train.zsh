#compdef train
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
