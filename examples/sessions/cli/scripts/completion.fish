# sessions: completion for fish. Load it with: sessions completion fish | source
function __sessions_complete
	set -l words (commandline -opc) (commandline -ct)
	sessions complete -- $words[2..-1] 2>/dev/null
end
complete -c sessions -a '(__sessions_complete)'
