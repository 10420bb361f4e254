# Completion of tabwire for bash. Load it with: eval "$(tabwire completions bash)"
_tabwire() {
    # bash breaks words at colons and equals signs, which tab ids and options contain: put them together again.
    local rest="${COMP_LINE:0:COMP_POINT}" word before line i
    local -a words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        before="$rest"
        rest="${rest#"${rest%%[![:space:]]*}"}"
        if ((i == COMP_CWORD)); then
            word="$rest"
        else
            word="${COMP_WORDS[i]}"
            rest="${rest#"$word"}"
        fi
        if [[ "$before" == [[:space:]]* || ${#words[@]} -eq 0 ]]; then
            words+=("$word")
        else
            words[${#words[@]} - 1]+="$word"
        fi
    done
    local current="${words[${#words[@]} - 1]}"
    local kept="${current%"${current##*[:=]}"}"
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ "$line" == ":files" ]]; then
            compopt -o default 2>/dev/null
            COMPREPLY=()
            return
        fi
        line="${line%%$'\t'*}"
        COMPREPLY+=("${line#"$kept"}")
    done < <("$1" complete bash -- "${words[@]:1}" 2>/dev/null)
}
complete -F _tabwire tabwire
