#compdef sessions
# sessions: completion for zsh. Load it with: source <(sessions completion zsh)
_sessions() {
	local -a shown
	local line found odd=
	for line in "${(@f)$(sessions complete -- "${(@Q)words[2,$CURRENT]}" 2>/dev/null)}"; do
		[[ -n $line ]] || continue
		found=${line%%$'\t'*}
		[[ ${(q)found} == "$found" ]] || odd=1
		shown+=("${${found//\\/\\\\}//:/\\:}:${line#*$'\t'}")
	done
	_describe sessions shown || _files
	# What quoted words have in common may end within a quotation: it stays off the line.
	[[ -z $odd ]] || ((${#shown} < 2)) || compstate[insert]=
}
compdef _sessions sessions
