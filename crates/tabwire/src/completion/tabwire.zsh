#compdef tabwire
# Completion of tabwire for zsh. Load it with: source <(tabwire completions zsh)
_tabwire() {
    local line
    local -a values shown
    while IFS= read -r line; do
        if [[ "$line" == ":files" ]]; then
            _files
            return
        fi
        values+=("${line%%$'\t'*}")
        shown+=("${line/$'\t'/  -- }")
    done < <("${words[1]}" complete zsh -- "${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)
    (( ${#values} )) || return 1
    compadd -l -d shown -a values
}
if [[ "${funcstack[1]}" == _tabwire ]]; then
    _tabwire "$@"
else
    compdef _tabwire tabwire
fi
