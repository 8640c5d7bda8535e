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
	switch tool {
	case Claude:
		if o.Home == "" {
			o.Home, err = homeOf("CLAUDE_CONFIG_DIR", ".claude")
		}
		if err == nil {
			all, err = findClaude(ctx, o)
		}
	case Codex:
		if o.Home == "" {
			o.Home, err = homeOf("CODEX_HOME", ".codex")
		}
		if err == nil {
			all, err = findCodex(ctx, o)
		}
	default:
		err = fmt.Errorf("%w %q", ErrTool, tool)
	}
	if err != nil {
		err = fmt.Errorf("find histories: %w", err)
	}
	return all, err
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
