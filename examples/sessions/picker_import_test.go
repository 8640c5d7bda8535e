//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

// foreignHome is where made-up histories of both tools are.
const foreignHome = "../../sessionstore/archive/foreign/testdata"

// histories puts histories of other tools into the home directory.
func (p *pane) histories() {
	p.t.Helper()
	for _, tool := range []string{"claude", "codex"} {
		require.NoError(p.t, os.CopyFS(filepath.Join(p.dir, "."+tool), os.DirFS(filepath.Join(foreignHome, tool))))
	}
}

// prompt returns a line of Claude Code, whose id is its text.
func prompt(text string) string {
	return fmt.Sprintf(`{"type":"user","uuid":%[1]q,"parentUuid":null,"cwd":"/w","timestamp":"2026-03-04T10:00:01.000Z","message":{"content":%[1]q}}`+"\n", text)
}

// left leaves the picker.
func (p *pane) left() {
	p.t.Helper()
	p.keys("C-k", "q")
	p.until(func(screen string) bool { return !strings.Contains(screen, "Sessions ") }, "the shell")
}

var offered = regexp.MustCompile(`\d+ conversations of Claude Code and \d+ of Codex are not here: ctrl\+k[ │\n]+i[ │]+imports them`)

// TestPickerImports takes up the offer of an empty list: all that the other tools have
// comes, as by the command.
func TestPickerImports(t *testing.T) {
	t.Parallel()
	p := openPane(t, 120, 40)
	p.histories()
	p.keys("sessions", "Enter")
	p.until(func(screen string) bool {
		return strings.Contains(screen, "There are no sessions yet.") && offered.MatchString(strings.Join(strings.Fields(screen), " "))
	}, offered)
	p.keys("C-k", "?")
	p.shows("  i          import what other tools have")
	p.keys("Escape")
	p.shows("There are no sessions yet.")
	p.keys("C-k", "i")
	p.shows("Import ", " of Codex? y/n")
	p.keys("n")
	p.shows("Nothing was changed.")
	require.NoDirExists(t, filepath.Join(p.dir, "home", "projects", "-home-ana-site"))
	p.keys("C-k", "i")
	p.shows("y/n")
	p.keys("y")
	screen := p.shows("Imported ", " created, 0 updated, 0 unchanged (", "▸ ")
	require.NotContains(t, screen, "are not here")
	p.keys("C-k", "?")
	require.NotContains(t, p.shows("undo a removal"), "import what")
	p.keys("q")
	p.shows("▸ ", "esc quit")
	p.left()
	for _, tool := range []string{"claude", "codex"} {
		p.command("clear; sessions import --from " + tool + " >out")
		require.Regexp(t, ` 0 updated, [1-9]\d* unchanged`, p.read("out"))
	}
}

// TestPickerOffersBelowTheList has one conversation that is not here below those
// that are, imports it, and tells what cannot be imported.
func TestPickerOffersBelowTheList(t *testing.T) {
	t.Parallel()
	p := openPane(t, 120, 40)
	p.some()
	folder := filepath.Join(p.dir, ".claude", "projects", "-w")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	line := prompt("Sail to Porto")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "s.jsonl"), []byte(line), 0o600))
	p.keys("sessions", "Enter")
	p.shows("▸ Write a report about Lisbon", "\n1 conversation of Claude Code is not here: ctrl+k i imports it")
	p.keys("Down")
	p.shows("▸ 日本語", "is not here")
	p.keys("C-k", "i")
	p.shows("Import 1 conversation of Claude Code? y/n")
	p.keys("y")
	p.shows("Imported 1 history: 1 created, 0 updated, 0 unchanged (1 conversation, 0 forks, 0 sub-sessions).", "Sessions 5", "▸ 日本語", "Sail to Porto")
	p.keys("Up")
	p.until(func(screen string) bool {
		return !strings.Contains(screen, "Imported") && !strings.Contains(screen, "is not here")
	}, "no offer")

	// What cannot be imported is told, and offered again.
	require.NoError(t, os.WriteFile(filepath.Join(folder, "t.jsonl"), []byte(line), 0o600))
	require.NoError(t, os.RemoveAll(filepath.Join(p.dir, "home", "projects", "-w")))
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "home", "projects", "-w"), nil, 0o600))
	p.left()
	p.command("clear")
	p.keys("sessions", "Enter")
	p.shows("2 conversations of Claude Code are not here")
	p.keys("C-k", "i")
	p.shows("y/n")
	p.keys("y")
	p.shows("Imported 2 histories: 0 created", "Not all could be imported: import ", "s.jsonl", "(and 1 more, which")
	p.keys("Down")
	p.shows("2 conversations of Claude Code are not here")
}

// TestPickerGoesOn goes on with an imported session in the tool from which it came, by Enter and by a key.
func TestPickerGoesOn(t *testing.T) {
	t.Parallel()
	p := openPane(t, 80, 24)
	work := filepath.Join(p.dir, "w")
	folder := filepath.Join(p.dir, ".claude", "projects", "-w")
	require.NoError(t, os.MkdirAll(work, 0o700))
	require.NoError(t, os.MkdirAll(folder, 0o700))
	line := strings.Replace(prompt("Sail to Porto"), `"/w"`, fmt.Sprintf("%q", work), 1)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "aaaaaaaa-0000-4000-8000-000000000001.jsonl"), []byte(line), 0o600))
	p.host("echo HOST; read line")
	script := "#!/bin/sh\necho \"$(pwd -P): $*\" >>" + filepath.Join(p.dir, "went") + "\necho CLAUDE; read line\n"
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "bin", "claude"), []byte(script), 0o700)) //nolint:gosec // it is run
	p.command("sessions import --from claude >out")
	p.keys("clear; sessions --all-projects", "Enter")
	p.shows("▸ Sail to Porto")
	p.keys("Enter")
	p.shows("It came from Claude Code. Go on there? y: there, n: in amplifier, esc: not now")
	p.keys("y")
	p.shows("CLAUDE")
	p.keys("Enter")
	p.shows("▸ Sail to Porto", "esc quit")
	want := work + ": --resume aaaaaaaa-0000-4000-8000-000000000001\n"
	require.Equal(t, want, p.read("went"))
	p.keys("C-k", "t")
	p.until(func(screen string) bool {
		return strings.HasSuffix(strings.TrimRight(screen, "\n "), "CLAUDE")
	}, "CLAUDE")
	p.keys("Enter")
	p.shows("▸ Sail to Porto", "esc quit")
	require.Equal(t, want+want, p.read("went"))
	p.keys("Enter")
	p.shows("Go on there?")
	p.keys("n")
	p.shows("HOST")
	p.keys("Enter")
	p.shows("▸ Sail to Porto", "esc quit")
	p.left()
}

// TestPickerImportStops stops an import in the middle of a conversation, which waits for
// the lock of its session: that one comes whole, and the next one stays out. An import
// waits ten seconds; where the terminal is too slow to be told in that time, it is tried
// again.
func TestPickerImportStops(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"Escape", "C-c"} {
		for tries := 1; !importStops(t, key); tries++ {
			require.Less(t, tries, 5, "no import waited long enough")
		}
	}
}

// importStops reports whether the import was stopped while it waited.
func importStops(t *testing.T, key string) bool {
	t.Helper()
	p := openPane(t, 120, 24)
	folder := filepath.Join(p.dir, ".claude", "projects", "-w")
	agents := filepath.Join(folder, "s", "subagents")
	require.NoError(t, os.MkdirAll(agents, 0o700))
	for path, text := range map[string]string{
		filepath.Join(folder, "s.jsonl"):       "Sail to Porto",
		filepath.Join(agents, "agent-1.jsonl"): "Look at the wind",
		filepath.Join(folder, "t.jsonl"):       "Sail back",
	} {
		require.NoError(t, os.WriteFile(path, []byte(prompt(text)), 0o600))
	}
	sessions := filepath.Join(p.dir, "home", "projects", "-w", "sessions")
	require.NoError(t, os.MkdirAll(sessions, 0o700))
	id := foreign.History{Tool: foreign.Claude, ID: "s"}.SessionID()
	lock, err := os.Create(filepath.Join(sessions, "."+id+".metadata.lock"))
	require.NoError(t, err)
	defer lock.Close()
	require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))

	p.keys("sessions", "Enter")
	p.shows("2 conversations of Claude Code are not here")
	p.keys("C-k", "i")
	p.shows("y/n")
	p.keys("y")
	if p.gaveUp("Importing… 0 of 2 esc stops") {
		return false
	}
	p.keys(key)
	if p.gaveUp("It ends with this one.") {
		return false
	}
	require.NoError(t, lock.Close())
	if p.gaveUp("Imported 1 history: 2 created, 0 updated, 0 unchanged (1 conversation, 0 forks, 1 sub-session).") {
		return false
	}
	p.shows("▸ Sail to Porto")
	p.keys("Down")
	p.shows("1 conversation of Claude Code is not here: ctrl+k i imports it")
	made, err := filepath.Glob(filepath.Join(sessions, "*", "transcript.jsonl"))
	require.NoError(t, err)
	require.Len(t, made, 2)
	p.keys("C-k", "i")
	p.shows("y/n")
	p.keys("y")
	p.shows("Imported 1 history: 1 created, 0 updated", "Sail back")
	p.left()
	return true
}

// gaveUp waits until the terminal shows a text, or that an import waited for a lock in
// vain, and reports whether it is that.
func (p *pane) gaveUp(text string) bool {
	p.t.Helper()
	const vain = "lock is held elsewhere"
	screen := p.until(func(screen string) bool {
		words := strings.Join(strings.Fields(screen), " ")
		return strings.Contains(words, text) || strings.Contains(words, vain)
	}, text)
	return strings.Contains(strings.Join(strings.Fields(screen), " "), vain)
}
