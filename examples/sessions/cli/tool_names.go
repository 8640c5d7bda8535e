package cli

import (
	"strings"

	"github.com/alecthomas/kong"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

// toolNames returns the names of the other tools, as in "claude, codex or pi".
func toolNames(before string) string {
	var names []string
	for _, tool := range foreign.Tools() {
		names = append(names, string(tool))
	}
	return listed(names, before)
}

// toolTitles returns the names of the other tools for people, as in "Claude Code, Codex and pi".
func toolTitles(before string) string {
	var names []string
	for _, tool := range foreign.Tools() {
		names = append(names, tool.Title())
	}
	return listed(names, before)
}

// listed returns names with commas between them, and a word before the last one.
func listed(names []string, before string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " " + before + " " + names[last]
}

// toolVars are the variables of the tags of flags that take a tool.
func toolVars() kong.Vars {
	one := toolNames("or")
	return kong.Vars{"tools": strings.NewReplacer(", ", ",", " or ", ",").Replace(one), "a_tool": one}
}
