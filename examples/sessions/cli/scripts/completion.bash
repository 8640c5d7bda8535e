# sessions: completion for bash. Load it with: source <(sessions completion bash)
_sessions() {
	local IFS=$'\n'
	COMPREPLY=($(sessions complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _sessions sessions
