# sessions: completion for fish. Load it with: sessions completion fish | source
function __sessions_complete
	set -l words (commandline -opc) (commandline -ct)
	set -l found (sessions complete -- $words[2..-1] 2>/dev/null)
	if set -q found[1]
		printf '%s\n' $found
	else
		__fish_complete_path (commandline -ct)
	end
end
complete -c sessions -f -a '(__sessions_complete)'
