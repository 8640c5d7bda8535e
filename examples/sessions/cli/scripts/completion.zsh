#compdef sessions
# sessions: completion for zsh. Load it with: source <(sessions completion zsh)
_sessions() {
	local -a shown
	local line
	for line in "${(@f)$(sessions complete -- "${(@)words[2,$CURRENT]}" 2>/dev/null)}"; do
		[[ -n $line ]] && shown+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
	done
	_describe sessions shown || _files
}
compdef _sessions sessions
