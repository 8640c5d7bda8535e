package picker

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"
)

func TestView(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	require.Equal(t, strings.TrimPrefix(`
Sessions 3
~/weather 2
▸ Weather report                 1 h ago
  3                              3 h ago
/b 1
  Connection pool                2 h ago



────────────────────────────────────────
Weather report
0 turns · 11111111-a
You
Write it

enter resume  tab read  ctrl+k commands`, "\n"), screenText(m, 40, 16))
	require.Contains(t, screenText(m, 120, 30), "Connection pool                                          2 h ago │ Write it \n")
	press(m, "^?")
	require.Contains(t, screenText(m, 80, 24), "  u          undo a removal or a fork")
}

// screenText returns the lines of a view without the space at their ends.
func screenText(m *Model, width, height int) string {
	lines := m.draw(width, height)
	for i, line := range lines {
		lines[i] = strings.TrimRight(escapes.ReplaceAllString(line, ""), " ")
		if strings.Contains(lines[i], " │") {
			lines[i] += " "
		}
	}
	return strings.Join(lines, "\n")
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestLongModel keeps the rest of what a session is, whatever its model is called.
func TestLongModel(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	m.list.all[0].Model = strings.Repeat("long-name-", 6)
	require.Contains(t, screenText(m, 80, 24), "\n0 turns · long-name-long-name-long-name-l… · 11111111-a\n")
}

// TestViewModes looks at what is typed and asked.
func TestViewModes(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	write(m, "pool")
	require.Contains(t, screenText(m, 80, 24), "Sessions 1 of 3   Filter: pool")
	require.True(t, strings.HasPrefix(screenText(m, 40, 24), "Filter: pool\n"))
	write(m, "zzz")
	require.Contains(t, screenText(m, 80, 24), "Nothing fits. esc shows all.")
	press(m, "esc", "^/")
	write(m, "text")
	require.Contains(t, screenText(m, 80, 24), "Search text: text")
	press(m, "enter")
	require.Contains(t, screenText(m, 80, 24), "Searching…")
	m.Update(Found{Gen: m.found.gen, Key: Key{"-b", "2"}, Excerpts: []Excerpt{{"assistant", "some ", "text", " more"}}})
	require.Contains(t, screenText(m, 80, 24), "some »text« more")
	press(m, "^d")
	m.Update(Planned{Session: *must(m.list.chosen())})
	require.Contains(t, screenText(m, 80, 24), `Move "Connection pool" to the trash?  y/n`)
	press(m, "n", "^f")
	require.Contains(t, screenText(m, 80, 24), "Reading…")
	m.Update(TurnsRead{Key: Key{"-b", "2"}, Turns: []string{"one", "two"}})
	require.Contains(t, screenText(m, 80, 24), "  1  one\n▸ 2  two\n")

	empty, _ := newRecorded(Options{Now: time.Now})
	require.Contains(t, screenText(empty, 80, 24), "Reading…")
	empty.Update(Listed{Gen: 1, Done: true})
	require.Contains(t, screenText(empty, 80, 24), "There are no sessions yet.")
}

// TestViewFits draws screens of all sizes and modes with odd texts: the lines
// are as many as there are rows, none is too wide, and none holds what a
// terminal obeys but colors.
func TestViewFits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	odd := func() string {
		pieces := []string{"word ", "- ", "`", "**", "> ", "|a|\n|-|\n", "&#27;[2J", "日本", "ש", "\u202e", "\x1b[2J", "👩\u200d👧", "e\u0301", "\n", "\t", "long" + strings.Repeat("g", 50), " "}
		var text strings.Builder
		for range r.IntN(20) {
			text.WriteString(pieces[r.IntN(len(pieces))])
		}
		return text.String()
	}
	keys := []string{"tab", "^/", "^f", "^x", "^d", "^u", "^?", "^r", "^s", "ctrl+k", "down", "up", "pgdown", "end", "shift+up", "enter", "esc", "y", "a", "日", "t", "n", "home", "right"}
	for range 400 {
		m, _ := newRecorded(Options{Color: r.IntN(2) == 0, Now: func() time.Time { return noon }, Home: "/h", Host: "host"})
		var sessions []Session
		for range r.IntN(40) {
			s := at("/h/"+odd(), clean(odd()), clean(odd()))
			s.Model, s.Fork, s.Damaged, s.Changed = clean(odd()), r.IntN(2) == 0, r.IntN(2) == 0, noon.Add(-time.Duration(r.IntN(1e9))*time.Second)
			sessions = append(sessions, s)
		}
		width, height := 1+r.IntN(140), 1+r.IntN(50)
		m.Update(tea.WindowSizeMsg{Width: width, Height: height})
		m.Update(Listed{Gen: 1, Sessions: sessions, Done: r.IntN(2) == 0})
		for range r.IntN(6) {
			for _, c := range press(m, keys[r.IntN(len(keys))]) {
				switch c[0] {
				case "preview":
					m.Update(Previewed{Key: c[1].(Key), Passages: []Passage{said("user", cleanLines(odd())), said("tool", clean(odd())), said("assistant", cleanLines(odd()))}})
				case "turns":
					m.Update(TurnsRead{Key: c[1].(Key), Turns: []string{clean(odd()), clean(odd())}})
				case "plan":
					m.Update(Planned{Session: c[1].(Session), Obstacle: odd()})
				case "check":
					m.Update(Checked{Session: c[1].(Session), Obstacle: Obstacle(r.IntN(5)), Err: errOdd(odd()), Command: clean(odd())})
				case "search":
					if k := m.list.all; len(k) > 0 {
						m.Update(Found{Gen: c[1].(int), Key: k[0].Key, Excerpts: []Excerpt{{"user", clean(odd()), clean(odd()), clean(odd())}}})
					}
				}
			}
			lines := m.draw(width, height)
			require.Len(t, lines, height)
			for _, line := range lines {
				text := escapes.ReplaceAllString(line, "")
				require.LessOrEqual(t, screen.Columns(text), width, "%q", line)
				require.NotContains(t, text, "\x1b")
				require.Equal(t, -1, strings.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }), "%q", line)
			}
		}
	}
}

type errOdd string

func (e errOdd) Error() string { return string(e) }

// TestPreviewIsRendered draws what a model wrote as Markdown, and what a person wrote
// as it stands. Text that is long, or too wide when rendered, is drawn as it stands, too.
func TestPreviewIsRendered(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	key := m.list.choice()
	preview := func(all ...Passage) { m.Update(Previewed{Key: key, Passages: all}) }
	preview(said("user", "**why**"), said("assistant", "# Title\n\n**bold**\n\n- one\n- two"))
	shown := screenText(m, 120, 30)
	for _, text := range []string{"**why**", "# Title", " bold", "• one", "• two"} {
		require.Contains(t, shown, text)
	}
	require.NotContains(t, shown, "**bold**")
	preview(said("assistant", "- three"))
	require.Contains(t, screenText(m, 120, 30), "• three")
	require.Contains(t, screenText(m, 80, 24), "• three", "a preview of another width")

	preview(said("assistant", "- early"), said("assistant", "- late"+strings.Repeat(" word", renderedBytes/5)), said("assistant", "- last"))
	all := strings.Join(m.said(60), "\n")
	require.Contains(t, all, "- early")
	require.Contains(t, all, "- late")
	require.Contains(t, all, "• last")

	wide := "```\n" + strings.Repeat("x", 200) + "\n```"
	preview(said("assistant", wide))
	for _, line := range m.said(40) {
		require.LessOrEqual(t, screen.Columns(escapes.ReplaceAllString(line, "")), 40)
	}
	require.Equal(t, 200, strings.Count(strings.Join(m.said(40), ""), "x"), "nothing is cut")

	m.Plain = true
	preview(said("assistant", "- one"))
	require.Contains(t, screenText(m, 120, 30), "- one")
}

// TestNoColor has nothing but bold, dim and reversed text.
func TestNoColor(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	m.Update(Previewed{Key: m.list.choice(), Passages: []Passage{said("user", "x"), said("assistant", "y"), said("tool", "z")}})
	all := strings.Join(m.draw(80, 24), "\n")
	for _, found := range escapes.FindAllString(all, -1) {
		require.Contains(t, []string{"\x1b[m", "\x1b[1m", "\x1b[2m", "\x1b[7m"}, found)
	}
	m.Color = true
	require.Contains(t, strings.Join(m.draw(80, 24), "\n"), "\x1b[1;35m~/weather\x1b[m")
}
