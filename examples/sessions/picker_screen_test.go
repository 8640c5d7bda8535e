//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestPickerScreens looks at terminals of three sizes, and at one that changes
// its size.
func TestPickerScreens(t *testing.T) {
	t.Parallel()
	p := openPane(t, 120, 40)
	p.some()
	p.keys("sessions", "Enter")
	screen := p.shows("~/weather 3", "▸ Write a report about Lisbon", "2 h ago │", "שלום evil é 👩👧 ❤ end", "1 d ago", "~/pool 1", "Nothing more.", "ctrl+f search")
	edges := map[int]bool{}
	for line := range strings.Lines(screen) {
		if before, _, ok := strings.Cut(line, "│"); ok {
			edges[uniseg.StringWidth(before)] = true
		}
	}
	require.Len(t, edges, 1, "wide characters move nothing:\n%s", screen)

	p.tmux("resize-window", "-x", "80", "-y", "24")
	screen = p.shows("▸ Write a report about Lisbon", "some-model", "2 h ago\n", "日本語のタイトル…  some", "esc quit", strings.Repeat("─", 80), "Nothing more.")
	require.Len(t, strings.Split(strings.TrimRight(screen, "\n"), "\n"), 24)
	p.tmux("resize-window", "-x", "40", "-y", "20")
	screen = p.shows("▸ Write a report about Lisbon    2 h ago\n", "  日本語のタイトル日本語のタイ…  3 h ago\n", "\nenter resume  tab read  ctrl+k commands")
	require.NotContains(t, screen, strings.Repeat("─", 41))
	p.keys("C-k", "?")
	p.shows("ctrl+f       search all conversations\n")
	p.tmux("resize-window", "-x", "10", "-y", "3")
	p.keys("Escape")
	p.shows("Sessions 4")
	p.tmux("resize-window", "-x", "120", "-y", "40")
	p.shows("2 h ago │", "Nothing more.")
}

// TestPickerColor looks at the colors: the sixteen that the owner of the
// terminal chose, and none with NO_COLOR.
func TestPickerColor(t *testing.T) {
	t.Parallel()
	for _, vars := range [][]string{nil, {"NO_COLOR=1"}} {
		p := openPane(t, 80, 24, vars...)
		p.some()
		p.keys("sessions", "Enter")
		p.shows("Nothing more.")
		shown := p.tmux("capture-pane", "-p", "-e")
		for _, color := range []string{"\x1b[38;", "\x1b[48;"} {
			require.NotContains(t, shown, color)
		}
		if vars == nil {
			require.Contains(t, shown, "\x1b[35m~/weather")
			require.Contains(t, shown, "\x1b[36m")
			continue
		}
		require.NotRegexp(t, "\x1b\\[([0-9]+;)*[34][0-8]", shown)
		require.Regexp(t, "\x1b\\[0;7m(\x1b\\[[34]9m)*▸ Write", shown, "what is chosen is seen nevertheless")
	}
}

// TestGround looks at the picker and at show on dark and on light ground. Both
// are the same: the terminal's own colors, none of which is that of a ground, and
// nothing asks the terminal for its ground.
func TestGround(t *testing.T) {
	t.Parallel()
	const text = "# Title\n\n**bold** and `code`, [link](https://example.org)\n\n```go\n// why\nfunc f() string { return \"x\" + g(1) }\n```\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |"
	var seen []string
	for _, ground := range []string{"fg=white,bg=black", "fg=black,bg=white"} {
		p := openPane(t, 80, 40, "PAGER=cat")
		p.tmux("set-option", "-g", "window-style", ground)
		work := p.session("weather", "11111111-0000-4000-8000-000000000001", "Write a report", 2*time.Hour)
		transcript := filepath.Join(p.dir, "home", "projects", sessionstore.ProjectSlug(work), "sessions", "11111111-0000-4000-8000-000000000001", "transcript.jsonl")
		rows := p.read(transcript) + fmt.Sprintf("{\"role\": \"user\", \"content\": \"Show.\"}\n{\"role\": \"assistant\", \"content\": %q, \"tool_calls\": [{\"id\": \"a\", \"tool\": \"bash\", \"arguments\": {}}]}\n", text)
		require.NoError(t, os.WriteFile(transcript, []byte(rows), 0o600))
		p.keys("sessions", "Enter")
		p.shows("Sessions 1\n", "return")
		seen = append(seen, p.tmux("capture-pane", "-p", "-e"))
		p.keys("C-k", "q")
		p.until(func(screen string) bool { return !strings.Contains(screen, "return") }, "no picker")
		p.command("clear; sessions show 11111111 -T --no-pager --color=always")
		p.until(func(screen string) bool { return strings.HasSuffix(strings.TrimRight(screen, "\n "), "no result\n$") }, "no result, and a prompt")
		seen = append(seen, p.tmux("capture-pane", "-p", "-e"))
	}
	require.Equal(t, seen[:2], seen[2:])
	for _, screen := range seen {
		require.NotContains(t, screen, "```", "Markdown is rendered")
		require.Regexp(t, `\x1b\[([0-9]+;)*3[1-6]m`, screen)
		require.NotRegexp(t, `\x1b\[([0-9]+;)*(30|37|38|4[0-8]|9[0-7]|10[0-7])[;m]`, screen)
	}
}

// TestPickerEnds leaves the picker in each way that there is. The terminal is
// whole afterwards.
func TestPickerEnds(t *testing.T) {
	t.Parallel()
	p := openPane(t, 80, 24)
	p.some()
	whole := p.whole()
	begin := func(line string) {
		p.command("clear")
		p.keys(line, "Enter")
		p.shows("~/weather 3", "Nothing more.")
	}
	for code, keys := range map[string][]string{"0\n": {"C-k", "q"}, " 0\n": {"Escape"}, "130\n": {"C-c"}} {
		begin("sessions; echo $? >ended")
		p.keys(keys...)
		whole()
		require.NotContains(t, p.shows("$"), "weather 3")
		require.Equal(t, strings.TrimLeft(code, " "), p.read("ended"))
	}

	begin("sessions")
	p.keys("C-z")
	p.shows("topped")
	whole()
	p.keys("fg", "Enter")
	p.shows("~/weather 3", "Nothing more.")
	p.keys("Down", "C-k", "q")
	whole()

	begin("sh -c 'echo $$ >pid; exec sessions'")
	require.NoError(t, exec.Command("kill", "-TERM", strings.TrimSpace(p.read("pid"))).Run())
	p.shows("sessions: interrupted")
	whole()

	begin("sh -c 'echo $$ >pid; sessions; :'")
	require.NoError(t, exec.Command("kill", "-KILL", strings.TrimSpace(p.read("pid"))).Run())
	p.shows("sessions: the program that started the picker is gone")
	whole()
}

// TestPickerResumes runs a host in the directory of a session, and comes back.
func TestPickerResumes(t *testing.T) {
	t.Parallel()
	p := openPane(t, 80, 24)
	p.some()
	p.host(`echo HOST; read line; [ "$line" != wrong ] || exit 3`)
	whole := p.whole()
	p.keys("sessions", "Enter")
	p.shows("Nothing more.")
	p.keys("cnpool")
	p.shows("Filter: cnpool")
	p.keys("Enter")
	p.shows("HOST")
	want := filepath.Join(p.dir, "pool") + ": session resume 22222222-0000-4000-8000-000000000001\n"
	require.Equal(t, want, p.read("log"))
	p.keys("right", "Enter")
	p.shows("▸ Fix the connection pool", "Filter: cnpool")
	p.keys("Enter")
	p.until(func(screen string) bool { return strings.HasSuffix(strings.TrimRight(screen, "\n "), "HOST") }, "HOST")
	p.keys("C-c") // it is meant for the host
	p.shows("amplifier: ", "Press Enter")
	p.keys("Enter")
	p.shows("▸ Fix the connection pool")
	p.keys("Enter")
	p.until(func(screen string) bool { return strings.HasSuffix(strings.TrimRight(screen, "\n "), "HOST") }, "HOST")
	p.keys("wrong", "Enter")
	p.shows("amplifier: exit status 3", "Press Enter")
	p.keys("Enter")
	p.shows("▸ Fix the connection pool", "amplifier: exit status 3")

	p.host(`stty raw -echo; printf '\033[?1049h\033[?1000h\033[?25l\033[31m'; kill -KILL $$`)
	p.keys("Enter")
	p.shows("amplifier: signal: killed")
	p.keys("Enter")
	p.shows("▸ Fix the connection pool")
	p.keys("C-k", "q")
	whole()
	require.Equal(t, strings.Repeat(want, 4), p.read("log"))
}

// TestPickerCannotResume has sessions that no host can go on with.
func TestPickerCannotResume(t *testing.T) {
	t.Parallel()
	p := openPane(t, 80, 24, "AMPLIFIER_HOST=some-host")
	gone := p.session("gone it's", "11111111-0000-4000-8000-000000000001", "Its directory is gone", time.Hour)
	p.keys("sessions", "Enter")
	p.shows("Nothing more.")
	p.keys("Enter")
	p.shows("some-host is not on PATH. Copied: cd ")
	line := "cd '" + strings.ReplaceAll(gone, "'", `'\''`) + "' && some-host session resume 11111111-0000-4000-8000-000000000001"
	p.until(func(string) bool {
		out, err := exec.Command("tmux", "-S", p.socket, "show-buffer").Output()
		return err == nil && string(out) == line
	}, line)

	p.host("echo HOST; read line")
	require.NoError(t, os.Rename(filepath.Join(p.dir, "bin", "amplifier"), filepath.Join(p.dir, "bin", "some-host")))
	require.NoError(t, os.Remove(gone))
	p.keys("Enter")
	p.shows("is gone. Make it", "y/n")
	p.keys("n")
	p.shows("Nothing was changed.")
	require.NoDirExists(t, gone)
	p.keys("Enter")
	p.shows("y/n")
	p.keys("y")
	p.shows("HOST")
	require.Equal(t, gone+": session resume 11111111-0000-4000-8000-000000000001\n", p.read("log"))
	p.keys("Enter")
	p.shows("▸ Its directory is gone")
}

// TestPickerChanges forks, exports, removes, brings back and searches sessions.
func TestPickerChanges(t *testing.T) {
	t.Parallel()
	p := openPane(t, 80, 24)
	p.some()
	sessions := func() int {
		all, err := filepath.Glob(filepath.Join(p.dir, "home", "projects", "*", "sessions", "*", "transcript.jsonl"))
		require.NoError(t, err)
		return len(all)
	}
	p.keys("sessions", "Enter")
	p.shows("Nothing more.")
	p.keys("C-k", "f")
	p.shows("▸ 2  And then?")
	p.keys("Up", "Enter")
	p.shows("Forked after turn 1", "▸ ↳ Write a report about Lisbon")
	require.Equal(t, 5, sessions())
	p.keys("C-k", "d")
	p.shows(`Move "Write a report about Lisbon" to the trash although`, "y/n")
	p.keys("y")
	p.shows("u brings it back.", "Sessions 4")
	require.Equal(t, 4, sessions())
	p.keys("C-k", "u")
	p.shows("It is back.", "▸ ↳ Write a report about Lisbon")
	require.Equal(t, 5, sessions())

	p.keys("C-k", "x")
	p.shows("Export to: ")
	p.keys("C-u", "out.html", "Enter")
	p.shows("Exported to out.html.")
	require.Contains(t, p.read("out.html"), "Write a report about Lisbon")

	p.keys("C-f")
	p.shows("Search text:")
	p.keys("CONNECTION pool", "Enter")
	p.shows("Sessions 1 of 5", "▸ Fix the connection pool", "Fix the »connection pool«")
	p.keys("Escape")
	p.shows("Sessions 5")

	p.left()
	p.command("sessions undo --list --json >changes")
	require.Equal(t, 1, strings.Count(p.read("changes"), `"change": "fork"`))
}

// TestPickerWithoutTerminal is the usage where standard input or output is no
// terminal, and with flags the list.
func TestPickerWithoutTerminal(t *testing.T) {
	t.Parallel()
	p := openPane(t, 80, 24)
	p.session(".", "11111111-0000-4000-8000-000000000001", "Write a report", time.Hour)
	p.command("sessions >out; echo ends with $?")
	p.shows("sessions: name a command", "Usage: sessions <command>", "ends with 2")
	require.Empty(t, p.read("out"))
	p.command("sessions --project=. >out")
	require.Contains(t, p.read("out"), "\t11111111-0000-4000-8000-000000000001\t")
	p.command("sessions </dev/null; echo ends with $?")
	p.shows("sessions: name a command", "ends with 2")
	p.command("sessions --project=. </dev/null")
	p.shows("11111111  Write a report", "Modified")
	p.command("TERM=dumb sessions")
	require.Contains(t, p.modes(), "0 1")
}

// TestPickerShows shows a session in less, finds a text in it, changes the size of the terminal
// and stops both programs meanwhile, renames the session, and sees another one come and go.
func TestPickerShows(t *testing.T) {
	t.Parallel()
	p := openPane(t, 80, 24)
	work := p.session("weather", "11111111-0000-4000-8000-000000000001", "Write a report", 2*time.Hour)
	transcript := filepath.Join(p.dir, "home", "projects", sessionstore.ProjectSlug(work), "sessions", "11111111-0000-4000-8000-000000000001", "transcript.jsonl")
	var rows strings.Builder
	for i := range 500 {
		fmt.Fprintf(&rows, "{\"role\": \"user\", \"content\": \"Question %d\"}\n{\"role\": \"assistant\", \"content\": \"%s\", \"tool_calls\": [{\"id\": \"c%d\", \"tool\": \"bash\", \"arguments\": {\"command\": \"ls %d\"}}]}\n", i, strings.Repeat("words and ", 400), i, i)
		fmt.Fprintf(&rows, "{\"role\": \"tool\", \"tool_call_id\": \"c%d\", \"content\": \"first\\nsecond \\u001b[2J%d\"}\n", i, i)
	}
	require.NoError(t, os.WriteFile(transcript, []byte(rows.String()), 0o600))
	whole := p.whole()
	terminal := strings.TrimSpace(p.tmux("display-message", "-p", "#{pane_tty}"))
	p.keys("sessions", "Enter")
	p.shows("▸ Question 0", "500 turns")
	p.keys("Tab")
	p.shows("11111111-0000-4000-8000-000000000001", "1,500", "> Question 0", "words and words")
	p.keys("/question 250", "Enter")
	p.shows("Pattern not found")
	p.keys("Enter", "/Question 250", "Enter")
	p.shows("> Question 250\n")
	p.keys("C-z")
	// The shell may write on the screen of less, which goes when less stops, after this program.
	p.until(func(string) bool {
		all, err := exec.Command("ps", "-t", terminal, "-o", "stat=,comm=").Output()
		return err == nil && regexp.MustCompile(`(?m)^T\S* +less$`).Match(all)
	}, "less, stopped")
	p.command("jobs >jobs")
	require.Contains(t, p.read("jobs"), "Stopped")
	p.keys("fg", "Enter")
	p.shows("> Question 250\n")
	p.tmux("resize-window", "-x", "100", "-y", "20")
	p.keys("G")
	p.shows("→ bash {\"command\": \"ls 499\"}", "lines: first")
	p.keys("q")
	p.shows("▸ Question 0", "│", "esc quit")
	p.keys("C-k", "y")
	p.shows("Copied: 11111111-0000-4000-8000-000000000001")
	p.until(func(string) bool {
		out, err := exec.Command("tmux", "-S", p.socket, "show-buffer").Output()
		return err == nil && string(out) == "11111111-0000-4000-8000-000000000001"
	}, "the id in the clipboard")
	p.keys("C-k", "r")
	p.shows("Name: Question 0")
	p.keys("C-u", "All questions", "Enter")
	p.shows("It is called \"All questions\" now.")
	p.keys("Tab")
	p.shows("All questions", "> Question 0")
	p.keys("q")
	p.shows("▸ All questions", "Sessions 1\n")
	other := p.session("weather", "11111111-0000-4000-8000-000000000002", "Another one", time.Hour)
	p.shows("Another one", "Sessions 2\n")
	require.NoError(t, os.RemoveAll(filepath.Join(p.dir, "home", "projects", sessionstore.ProjectSlug(other), "sessions", "11111111-0000-4000-8000-000000000002")))
	p.shows("▸ All questions", "Sessions 1\n")
	p.keys("Escape")
	whole()
}

// TestPickerShowsInEachPager shows a short session: it stays on the terminal until the user
// leaves the pager, or presses a key where there is none, or where the pager has ended.
func TestPickerShowsInEachPager(t *testing.T) {
	t.Parallel()
	const prompt = "Press a key for the list of sessions."
	for name, c := range map[string]struct {
		vars  []string
		flags string
		shown []string
		leave []string
	}{
		"none is named":      {[]string{"PAGER="}, "", []string{"> And then?", "Nothing more."}, []string{"q"}},
		"less that ends":     {[]string{"PAGER=less", "LESS=-FRX"}, "", []string{"> And then?", "Nothing more."}, []string{"q"}},
		"cat":                {[]string{"PAGER=cat"}, "", []string{"> And then?", "Nothing more.", prompt}, []string{"x"}},
		"cat, Ctrl-C":        {[]string{"PAGER=cat"}, "", []string{"> And then?", "Nothing more.", prompt}, []string{"C-c"}},
		"no pager":           {nil, "--no-pager", []string{"> And then?", "Nothing more.", prompt}, []string{"Down"}},
		"not there":          {[]string{"PAGER=nothing-of-this-name"}, "", []string{"> And then?", "Nothing more.", prompt}, []string{"Enter"}},
		"one that fails":     {[]string{"PAGER=false"}, "", []string{prompt}, []string{"x"}},
		"one that complains": {[]string{"PAGER=ls --nope"}, "", []string{"unrecognized option", prompt}, []string{"x"}},
		"one that ends":      {[]string{"PAGER=sed -n p"}, "", []string{"> And then?", "Nothing more.", prompt}, []string{"x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := openPane(t, 80, 24, c.vars...)
			p.session("weather", "11111111-0000-4000-8000-000000000001", "Write a report", 2*time.Hour)
			p.session("weather", "11111111-0000-4000-8000-000000000002", "Another", 3*time.Hour)
			whole := p.whole()
			p.keys("sessions "+c.flags, "Enter")
			for range 2 {
				p.shows("▸ Write a report", "Nothing more.", "esc quit")
				p.keys("Tab")
				p.until(func(screen string) bool {
					for _, text := range c.shown {
						if !strings.Contains(screen, text) {
							return false
						}
					}
					return !strings.Contains(screen, "esc quit")
				}, c.shown)
				p.keys(c.leave...)
			}
			p.shows("▸ Write a report", "esc quit")
			p.keys("Escape")
			whole()
		})
	}
}

// TestPickerShowsWhatIsGone shows a session whose directory was removed: the error stays on the terminal
// until a key is pressed.
func TestPickerShowsWhatIsGone(t *testing.T) {
	t.Parallel()
	p := openPane(t, 80, 24)
	work := p.session("weather", "11111111-0000-4000-8000-000000000001", "Write a report", 2*time.Hour)
	whole := p.whole()
	p.keys("sessions", "Enter")
	p.shows("▸ Write a report", "Nothing more.", "esc quit")
	require.NoError(t, os.RemoveAll(filepath.Join(p.dir, "home", "projects", sessionstore.ProjectSlug(work), "sessions", "11111111-0000-4000-8000-000000000001")))
	p.keys("Tab")
	p.until(func(screen string) bool {
		return strings.Contains(screen, "Press a key for the list of sessions.") || strings.Contains(screen, "There are no sessions")
	}, "the error, or the list")
	p.keys("Enter")
	p.shows("There are no sessions")
	p.keys("Escape")
	whole()
}

// TestPickerSyncedLongAgo looks at the line about the last sync: in the header of the project
// that was synced, until something is typed there, and not where all projects are shown.
func TestPickerSyncedLongAgo(t *testing.T) {
	t.Parallel()
	p := openPane(t, 80, 24)
	p.some()
	work := filepath.Join(p.dir, "weather")
	last := filepath.Join(p.dir, "home", "projects", sessionstore.ProjectSlug(work), "sessions", ".sessionstore", "sync", "last")
	require.NoError(t, os.MkdirAll(filepath.Dir(last), 0o700))
	require.NoError(t, os.WriteFile(last, []byte("dir x"), 0o600))
	before := time.Now().Add(-50 * time.Hour)
	require.NoError(t, os.Chtimes(last, before, before))
	p.keys("cd weather; sessions", "Enter")
	screen := p.shows("~/weather 3", "Nothing more.", "esc quit")
	require.NotContains(t, screen, "synced", "no remote is configured")
	p.keys("Escape")
	p.shows("$")
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "home", "remotes.json"), []byte(`{"version": 1, "remotes": [{"name": "work", "url": "dir:/x"}]}`), 0o600))
	p.command("sessions list 2>listed >/dev/null")
	require.Regexp(t, `^Last synced 2 d ago, .*\n$`, p.read("weather/listed"))
	p.keys("clear; sessions", "Enter")
	screen = p.shows("~/weather 3", "Nothing more.", "esc quit")
	require.Regexp(t, `^Sessions 3   Last synced 2 d ago, \d{4}-\d\d-\d\d \d\d:\d\d *\n`, screen)
	require.Len(t, strings.Split(strings.TrimRight(screen, "\n"), "\n"), 24)
	p.tmux("resize-window", "-x", "30", "-y", "24")
	p.shows("Sessions 3   Last synced 2 d …\n")
	p.tmux("resize-window", "-x", "80", "-y", "24")
	p.keys("L")
	p.shows("Sessions 3   Filter: L")
	p.keys("BSpace", "C-a")
	p.until(func(screen string) bool {
		return strings.Contains(screen, "Sessions 4") && !strings.Contains(screen, "synced")
	}, "a header without the line")
	p.keys("Escape")
	p.shows("$")
	require.NoError(t, os.Chtimes(last, time.Now(), time.Now()))
	p.keys("clear; sessions", "Enter")
	screen = p.shows("~/weather 3", "Nothing more.", "esc quit")
	require.NotContains(t, screen, "synced", "it was synced just now")
}
