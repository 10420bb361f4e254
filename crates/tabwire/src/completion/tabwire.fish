# Completion of tabwire for fish. Load it with: tabwire completions fish | source
function __tabwire_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l lines (command $before[1] complete fish -- $before[2..-1] "$current" 2>/dev/null)
    if test "$lines[1]" = ":files"
        __fish_complete_path "$current"
        return
    end
    for line in $lines
        echo $line
    end
end
complete -c tabwire -f -a '(__tabwire_complete)'
