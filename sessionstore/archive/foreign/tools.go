package foreign

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/claude"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/codex"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/copilot"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/opencode"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/pi"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// Tool is a program whose history can be imported.
type Tool string

// The tools.
const (
	Claude   Tool = "claude"   // Claude Code
	Codex    Tool = "codex"    // the Codex CLI
	Copilot  Tool = "copilot"  // the GitHub Copilot CLI
	OpenCode Tool = "opencode" // opencode
	Pi       Tool = "pi"       // pi, the coding agent
)

// programs are the tools: the only list of them.
var programs = map[string]thread.Tool{
	string(Claude): claude.Tool{}, string(Codex): codex.Tool{}, string(Copilot): copilot.Tool{}, string(OpenCode): opencode.Tool{}, string(Pi): pi.Tool{},
}

// Tools returns the tools, by name.
func Tools() (all []Tool) {
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		all = append(all, Tool(name))
	}
	return all
}

// program returns what is known of a tool.
func (t Tool) program() thread.Program {
	if p := programs[string(t)]; p != nil {
		return p.Program()
	}
	return thread.Program{Title: string(t), Target: claude.Tool{}.Program().Target}
}

// Title returns the name of the tool for people.
func (t Tool) Title() string { return t.program().Title }

// Variable returns the environment variable that names another directory of the tool.
func (t Tool) Variable() string { return t.program().Moved }

// Home returns the directory in which a tool keeps its histories: the one that [Tool.Variable]
// names, or else the one below the user's home, as ~/.claude. It may not be there. The error Is
// [ErrTool] for another tool.
func Home(tool Tool) (string, error) {
	p := programs[string(tool)]
	if p == nil {
		return "", fmt.Errorf("%w %q", ErrTool, tool)
	}
	if dir := os.Getenv(p.Program().Moved); dir != "" {
		return filepath.Join(dir, p.Program().Below), nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, filepath.FromSlash(p.Program().Home)), err
}

// Place returns the path at which the tool looks for the file of an export, of a session that
// worked in the directory dir, with symlinks resolved. The error says why there is none.
func (t Tool) Place(dir string, done Exported) (string, error) {
	home, err := Home(t)
	if err != nil {
		return "", err
	}
	place, err := programs[string(t)].Place(dir, done.File)
	return filepath.Join(home, place), err
}

// Resume returns the arguments with which the program of the tool goes on in its session id.
func (t Tool) Resume(id string) []string { return []string{t.program().Resume, id} }

// Speaks reports whether a line of the tool's file is a part of the conversation, or decides
// about the lines that may follow it.
func (t Tool) Speaks(line []byte) bool {
	p := programs[string(t)]
	return p == nil || p.Speaks(line)
}

// Target returns what a tool sends its conversations to unless it is set up otherwise: the
// API of its maker, for a tool without one, Anthropic's. Pictures are made smaller by package
// scale. Claude Code itself refuses pictures above 5 MB, as base64.
func Target(tool Tool) accept.Target { return tool.program().Target() }
