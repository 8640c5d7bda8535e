# sessions: completion for bash. Load it with: source <(sessions completion bash)
_sessions() {
	local found quoted odd= words=("${COMP_WORDS[@]:1:COMP_CWORD}")
	COMPREPLY=()
	while IFS=$'\t' read -r found _; do
		printf -v quoted %q "$found"
		[[ $quoted == "$found" ]] || odd=1
		COMPREPLY+=("$quoted")
	done < <(sessions complete -- "${words[@]//\\/}" 2>/dev/null)
	# What quoted words have in common may end within a quotation: a blank keeps it off the line.
	[[ -z $odd ]] || ((${#COMPREPLY[@]} < 2)) || COMPREPLY+=(' ')
}
complete -o default -F _sessions sessions
