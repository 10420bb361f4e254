# Completion of tabwire for Elvish. Load it with: eval (tabwire completions elvish | slurp)
use str
set edit:completion:arg-completer[tabwire] = {|@words|
    (external $words[0]) complete elvish -- (all $words[1..]) 2>/dev/null | from-lines | each {|line|
        var parts = [(str:split "\t" $line)]
        if (eq $parts[0] ':files') {
            edit:complete-filename $words[-1]
        } else {
            edit:complex-candidate $parts[0] &display=(str:join '  ' $parts)
        }
    }
}
