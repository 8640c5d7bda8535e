package foreign

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Find lists the histories of a tool on this machine, by folder and name. It reads the
// beginning of each. Without a directory of the tool there are none. The error tells
// what could not be read; Find then returns the others beside it. The error Is
// [ErrTool] for another tool.
func Find(ctx context.Context, tool Tool, opts *FindOptions) ([]History, error) {
	o := FindOptions{}
	if opts != nil {
		o = *opts
	}
	var all []History
	var err error
	if o.Home == "" {
		o.Home, err = Home(tool)
	}
	switch {
	case err != nil:
	case tool == Claude:
		all, err = findClaude(ctx, o)
	case tool == Codex:
		all, err = findCodex(ctx, o)
	default:
		err = fmt.Errorf("%w %q", ErrTool, tool)
	}
	if err != nil {
		err = fmt.Errorf("find histories: %w", err)
	}
	return all, err
}

// Home returns the directory in which a tool keeps its histories: $CLAUDE_CONFIG_DIR
// or $CODEX_HOME, or ~/.claude or ~/.codex where that is not set. It may not be there.
// The error Is [ErrTool] for another tool.
func Home(tool Tool) (string, error) {
	switch tool {
	case Claude:
		return homeOf("CLAUDE_CONFIG_DIR", ".claude")
	case Codex:
		return homeOf("CODEX_HOME", ".codex")
	}
	return "", fmt.Errorf("%w %q", ErrTool, tool)
}

// homeOf returns the directory that a variable of the environment names, or else
// the one of that name in the home directory.
func homeOf(variable, name string) (string, error) {
	if dir := os.Getenv(variable); dir != "" {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, name), err
}
