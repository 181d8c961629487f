# Completion of train for fish: train completion fish | source
function __train_answer
    set -l program (string replace -r '^~' $HOME -- (commandline -opc)[1])
    type -q -- $program; or set program train
    $program completion fish --line=(commandline -cp | string collect) 2>/dev/null
end
complete -c train -f -a '(__train_answer | string match -v ":*")'
complete -c train -n 'string match -q :files (__train_answer)' -F
complete -c train -n 'string match -q :folders (__train_answer)' -f \
    -a '(__fish_complete_directories (commandline -ct) "")'
