# Completion of train for bash: source <(train completion bash)
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
