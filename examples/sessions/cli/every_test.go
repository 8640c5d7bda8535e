package cli

import (
	"bytes"
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// everyCommand has calls of each command about the sessions "talk" and "other" of a project,
// those that change something last. DIR is a directory for what they write.
var everyCommand = []struct{ name, calls string }{
	{"list", "list --sort size|list|list --all --detailed|list --all-projects --json|list --tree talk|list --compact"},
	{"show", "show talk --hidden|show talk|show talk -T|show talk -T --json|show talk --last=3|show talk --turn=1 --json"},
	{"info", "info talk"},
	{"find", "find|find --keyword word|find --status healthy|find --status broken"},
	{"search", "search --file /word|search word|search -E w.rd --tools -C 1"},
	{"stats", "stats|stats --by session --json|stats --by size"},
	{"secrets", "secrets talk"},
	{"tail", "tail talk|tail talk --events|tail talk --json"},
	{"events list", "events talk|events talk --name x*"},
	{"events summary", "events summary talk"},
	{"events show", "events show talk"},
	{"workflow phases", "workflow talk|workflow talk --json"},
	{"workflow conversation", "workflow conversation talk"},
	{"workflow decisions", "workflow decisions talk"},
	{"diagnose", "diagnose talk"},
	{"verify", "verify|verify talk --json"},
	{"resume", "resume talk --show|resume --last --show|resume talk --json"},
	{"trash list", "trash"},
	{"export", "export talk|export talk --to=html|export talk --to=jsonl|export talk --to=tar|export talk --to=claude|export talk --to=codex|export talk --redact|export talk -o DIR/talk.html"},
	{"complete", "complete -- show t"},
	{"pick", "pick"},
	{"fork", "fork talk --at-turn 1 --name forked --events"},
	{"import", "import DIR/p/sessions/talk --as imported --project=q"},
	{"repair", "repair talk|repair talk --for gemini|repair --salvage talk"},
	{"rewind", "rewind talk|rewind talk --to-turn 1"},
	{"rename", "rename talk name"},
	{"undo", "undo --list|undo --list talk|undo --yes|undo talk --yes|undo --drop --yes"},
	{"redo", "redo --yes|redo talk"},
	{"verify", "verify --mend"},
	{"cleanup", "cleanup --dry-run|cleanup --force"},
	{"delete", "delete talk --dry-run|delete talk --force --even=recent,unsynced,parent"},
	{"trash empty", "trash empty --force"},
}

// noFiles are the commands that read no session, or first ask for a cloud or a browser.
var noFiles = []string{"help", "completion", "viewer", "mcp", "hide", "sync", "pull", "status", "keep-local", "rescue"}

// calls returns the calls of everyCommand.
func calls(root string) (all [][]string) {
	for _, c := range everyCommand {
		for call := range strings.SplitSeq(c.calls, "|") {
			args := strings.Fields(strings.ReplaceAll(call, "DIR", root))
			if c.name != "complete" {
				args = append(args, "--sessions-root="+root)
			}
			if c.name != "complete" && c.name != "import" && !strings.Contains(call, "-projects") {
				args = append(args, "--project=p")
			}
			all = append(all, args)
		}
	}
	return all
}

// TestEveryCommandIsCalled has everyCommand and noFiles know all commands.
func TestEveryCommandIsCalled(t *testing.T) {
	t.Parallel()
	parser, err := newParser(&commands{}, Process{Stdout: io.Discard, Stderr: io.Discard})
	require.NoError(t, err)
	known := map[string]bool{}
	for _, c := range everyCommand {
		known[c.name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(leaves(parser.Model.Node))) {
		require.True(t, known[name] || slices.Contains(noFiles, name) || strings.HasPrefix(name, "remote "), name)
	}
}

// twoTalks makes the sessions talk and other.
func twoTalks(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	for _, id := range []string{"talk", "other"} {
		dir := filepath.Join(root, "p", "sessions", id)
		require.NoError(t, os.MkdirAll(dir, 0o700))
		for name, text := range map[string]string{
			transcriptName:  `{"role": "user", "content": "a word of ` + id + `"}` + "\n" + `{"role": "assistant", "content": "yes"}` + "\n",
			"metadata.json": `{"session_id": "` + id + `", "created": "2026-01-01T00:00:00+00:00"}`,
			"events.jsonl":  `{"ts": "2026-01-01T00:00:00.000+00:00", "event": "x"}` + "\n",
			"config.md":     "---\nbundle: b\n---\n",
		} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
	}
	return root
}

// process runs the tool in this process.
func process(ctx context.Context, state string, out io.Writer, args []string) (code int, told string) {
	var notes bytes.Buffer
	env := func(name string) string { return map[string]string{"AMPLIFIER_SESSION_STATE_HOME": state}[name] }
	code = Run(ctx, Process{Args: args, Stdin: strings.NewReader(""), Stdout: out, Stderr: &notes, Env: env})
	return code, notes.String()
}

// TestInterrupted ends commands by their context, as a signal does, before they begin to read.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	root := twoTalks(t)
	for _, args := range calls(root) {
		if args[0] == "complete" || args[0] == "pick" { // which say nothing of an error; which is list here
			continue
		}
		var out bytes.Buffer
		code, told := process(ctx, t.TempDir(), &out, args)
		require.Equal(t, exitInterrupted, code, "%v: %s%s", args, &out, told)
		if told != "" { // a note that is not taken at once is left behind
			require.Contains(t, told, "interrupted", args)
		}
	}
	code, told := process(t.Context(), t.TempDir(), io.Discard, []string{"show", "talk", "-T", "--project=p", "--sessions-root=" + root})
	require.Equal(t, exitOK, code, told)
}

// TestLeftBehind interrupts commands that do not end.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	a := &app{ctx: ctx}
	begun, end := make(chan bool), make(chan bool)
	go func() { <-begun; stop() }()
	left, err := a.wait(func() error { close(begun); <-end; return nil })
	close(end)
	require.True(t, left)
	require.ErrorIs(t, err, context.Canceled)
}
