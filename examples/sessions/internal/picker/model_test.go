package picker

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// newModel returns a model that shows two projects with three sessions.
func newModel(t *testing.T) *Model {
	t.Helper()
	m, todo := newRecorded(Options{Now: func() time.Time { return noon }, Home: "/home/ada", Host: "amplifier"})
	require.Equal(t, []call{{"list", 1, "", false}}, todo)
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	sessions := []Session{at("/home/ada/weather", "11111111-a", "Weather report"), at("/b", "2", "Connection pool"), at("/home/ada/weather", "3", "")}
	for i := range sessions {
		sessions[i].Changed = noon.Add(-time.Duration(i+1) * time.Hour)
	}
	require.Equal(t, []call{{"preview", sessions[0].Key}}, did(m, Listed{Gen: 1, Sessions: sessions[:1]}))
	require.Empty(t, did(m, Listed{Gen: 1, Sessions: sessions[1:], Done: true}))
	m.Update(Previewed{Key: sessions[0].Key, Passages: []Passage{said("user", "Write it")}})
	return m
}

func said(role, text string) Passage { return Passage{Role: role, Text: text} }

// press presses keys, and returns what the last one asks for. "^x" is x after ctrl+k.
func press(m *Model, keys ...string) (todo []call) {
	for _, name := range keys {
		if letter, ok := strings.CutPrefix(name, "^"); ok {
			m.Update(key("ctrl+k"))
			name = letter
		}
		todo = did(m, key(name))
	}
	return todo
}

// write types a text.
func write(m *Model, text string) {
	for _, r := range text {
		m.Update(key(string(r)))
	}
}

func TestQuit(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"^q", "esc", "ctrl+c"} {
		m := newModel(t)
		require.Equal(t, []call{{"quit"}}, press(m, key))
		require.Equal(t, key == "ctrl+c", m.interrupted)
	}
	require.Equal(t, []call{{"suspend"}}, press(newModel(t), "ctrl+z"))
	for _, mode := range []string{"^/", "^f", "^x", "^r", "^?", "ctrl+k"} {
		require.Equal(t, []call{{"quit"}}, press(newModel(t), mode, "ctrl+c"), "in every mode")
	}
}

// TestShow shows the chosen session. Keys that were typed while it is shown do nothing to it.
func TestShow(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	s, _ := m.list.chosen()
	chosen := *s
	require.Equal(t, []call{{"show", chosen}}, press(m, "tab"))
	require.Empty(t, press(m, "tab"), "it is shown")
	require.Empty(t, press(m, "enter"), "that was for the pager")
	require.Contains(t, did(m, Returned{Key: chosen.Key}), call{"preview", chosen.Key}, "it may have grown")
	require.Equal(t, []call{{"show", chosen}}, press(m, "tab"))
}

// TestPreviewFollows chooses faster than previews come.
func TestPreviewFollows(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	first := m.list.choice()
	second := Key{first.Project, "3"}
	require.Equal(t, []call{{"preview", second}}, press(m, "down"))
	require.Empty(t, press(m, "down"), "one is read at a time")
	last := m.list.choice()
	require.Equal(t, []call{{"preview", last}}, did(m, Previewed{Key: second}))
	require.False(t, m.preview.loaded)
	require.Empty(t, did(m, Previewed{Key: last, Err: errors.New("bad\x1b")}))
	require.Equal(t, "bad\ufffd", m.preview.err)
}

func TestFilterKeys(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	write(m, "poolx")
	require.Zero(t, m.list.shown)
	press(m, "backspace")
	require.Equal(t, "2", m.list.choice().ID)
	press(m, "ctrl+u")
	m.Update(tea.PasteMsg{Content: "wea\x1bther\n"})
	require.Equal(t, "weather ", m.list.query)
	press(m, "ctrl+w")
	require.Empty(t, m.list.query)
	write(m, "pool q")
	require.Equal(t, "pool q", m.list.query, "letters are no commands")
	press(m, "backspace", "backspace", "ctrl+k", "esc")
	require.Equal(t, browsing, m.mode)
	require.Equal(t, "pool", m.list.query, "it stays")
	require.NotContains(t, press(m, "esc"), call{"quit"}, "first all sessions come back")
	require.Equal(t, 3, m.list.shown)

	write(m, "pool")
	require.Equal(t, []call{{"check", *must(m.list.chosen())}}, press(m, "enter"))
	require.Equal(t, "2", m.list.choice().ID)
	require.Equal(t, []call{{"quit"}}, press(newModel(t), "^q"))
}

func TestResume(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	s := *must(m.list.chosen())
	require.Equal(t, []call{{"check", s}}, press(m, "enter"))
	require.Equal(t, []call{{"resume", s}}, did(m, Checked{Session: s}))
	require.Equal(t, []call{{"list", 2, "", false}, {"preview", s.Key}}, did(m, Returned{Key: s.Key, Err: errors.New("exit status 3")}))
	require.Equal(t, note{"amplifier: exit status 3", true}, m.note)

	checked := func(e Checked) []call {
		require.Equal(t, []call{{"check", s}}, press(m, "enter"))
		return did(m, e)
	}
	require.Equal(t, []call{{"copy", "cd /b"}}, checked(Checked{Session: s, Obstacle: NoHost, Command: "cd /b"}))
	require.Contains(t, m.note.text, "not on PATH. Copied: cd /b")
	require.Equal(t, []call{{"copy", "run"}}, checked(Checked{Session: s, Obstacle: NoDir, Command: "run"}))
	require.Empty(t, checked(Checked{Session: s, Obstacle: Locked, Err: errors.New("locked by x")}))
	require.Contains(t, m.note.text, "locked by x")

	require.Empty(t, checked(Checked{Session: s, Obstacle: DirGone}))
	require.Equal(t, asking, m.mode)
	require.Empty(t, press(m, "n"))
	checked(Checked{Session: s, Obstacle: DirGone})
	require.Equal(t, []call{{"makeDir", s}}, press(m, "y"))
	require.Empty(t, did(m, Checked{Session: s, Err: errors.New("no right to")}))
	require.Contains(t, m.note.text, "no right to")
}

// TestOnward goes on with a session in the tool from which it came: by a key, and by Enter where
// the user says so.
func TestOnward(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	s := *must(m.list.chosen())
	came := Checked{Session: s, Origin: "claude", Obstacle: NoHost, Command: "cd /b"}
	press(m, "enter")
	require.Empty(t, did(m, came))
	require.Contains(t, screenText(m, 80, 24), "It came from Claude Code. Go on there?  y: there, n: in amplifier, esc: not now")
	require.Equal(t, []call{{"onward", s, "claude"}}, press(m, "y"))
	require.Empty(t, press(m, "enter"), "that key was meant for the tool")
	m.Update(Returned{Key: s.Key})
	press(m, "enter")
	m.Update(came)
	require.Equal(t, []call{{"copy", "cd /b"}}, press(m, "n"), "the host is not there")
	came.Obstacle = NoObstacle
	press(m, "enter")
	m.Update(came)
	require.Equal(t, []call{{"resume", s}}, press(m, "n"))
	m.Update(Returned{Key: s.Key})
	press(m, "enter")
	m.Update(came)
	require.Empty(t, press(m, "esc"))
	require.Equal(t, browsing, m.mode)
	came.Obstacle, came.Err = Locked, errors.New("locked by x")
	press(m, "enter")
	require.Empty(t, did(m, came))
	require.Contains(t, m.note.text, "locked by x")

	require.Equal(t, []call{{"check", s}}, press(m, "^t"))
	came.Obstacle, came.Origin = DirGone, "codex"
	require.Equal(t, []call{{"onward", s, "codex"}}, did(m, came), "the tool's command asks about the directory")
	m.Update(Returned{Key: s.Key})
	press(m, "^t")
	require.Empty(t, did(m, Checked{Session: s}))
	require.Contains(t, m.note.text, "did not come from another tool")
}

func must(s *Session, ok bool) *Session {
	if !ok {
		panic("no session is chosen")
	}
	return s
}

// TestReread has the list come again without a jump.
func TestReread(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	press(m, "down", "down")
	m.Update(Previewed{Key: Key{m.list.choice().Project, "3"}})
	chosen := m.list.choice()
	m.Update(Returned{Key: chosen})
	m.Update(Listed{Gen: 1, Sessions: []Session{at("/x", "9", "")}})
	require.Equal(t, 3, m.list.shown, "that is of an earlier reading")
	m.Update(Listed{Gen: 2, Sessions: []Session{at("/b", "2", "Connection pool")}})
	require.Equal(t, 3, m.list.shown)
	m.Update(Listed{Gen: 2, Sessions: []Session{at("/c", "5", "")}, Done: true})
	require.Equal(t, 2, m.list.shown)
	require.Equal(t, chosen, m.list.choice())

	m.Update(Returned{Key: chosen})
	m.Update(Listed{Gen: 3, Done: true, Err: errors.New("disk")})
	require.Equal(t, 2, m.list.shown, "what was there stays")
	require.Contains(t, m.note.text, "disk")
}

func TestForkKeys(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	k := m.list.choice()
	require.Equal(t, []call{{"turns", k}}, press(m, "^f"))
	require.Empty(t, press(m, "enter"), "the turns are not read yet")
	m.Update(TurnsRead{Key: Key{"other", "x"}, Turns: []string{"x"}})
	require.False(t, m.turns.loaded)
	m.Update(TurnsRead{Key: k, Turns: []string{"a", "b", "c"}})
	require.Equal(t, []call{{"fork", k, 2}}, press(m, "up", "enter"))
	forked := Key{k.Project, "new"}
	require.Contains(t, did(m, Forked{Key: forked, Turn: 2}), call{"list", 2, "", false})
	m.Update(Listed{Gen: 2, Sessions: []Session{at("/home/ada/weather", "3", ""), at("/home/ada/weather", "new", "")}, Done: true})
	require.Equal(t, forked, m.list.choice())
	require.Equal(t, []call{{"plan", Session{Key: forked, Title: "the fork"}}}, press(m, "^u"))

	press(m, "^f")
	m.Update(TurnsRead{Key: forked})
	require.Equal(t, browsing, m.mode)
	require.True(t, m.note.bad)
	m.Update(Forked{Err: errors.New("full")})
	require.Contains(t, m.note.text, "full")
}

func TestRemoveAndUndo(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	s := *must(m.list.chosen())
	require.Equal(t, []call{{"plan", s}}, press(m, "^d"))
	m.Update(Planned{Session: s, Obstacle: "a host runs it", Refused: true})
	require.Equal(t, browsing, m.mode)
	require.Contains(t, m.note.text, "a host runs it")
	press(m, "^d")
	m.Update(Planned{Session: s, Obstacle: "it was written now", Allow: []trash.Kind{trash.Recent}})
	require.Contains(t, m.ask.text, "it was written now")
	require.Equal(t, []call{{"remove", s, []trash.Kind{trash.Recent}}}, press(m, "y"))
	press(m, "^d")
	m.Update(Planned{Session: s})
	require.Empty(t, press(m, "^x"), "that is no answer")
	require.Empty(t, press(m, "enter"), "nothing goes without a yes")
	require.Equal(t, browsing, m.mode)

	receipt := trash.Receipt{ID: "r"}
	m.Update(Deleted{Key: s.Key, Name: "Weather report", Receipt: receipt})
	require.Equal(t, 2, m.list.shown)
	require.Equal(t, []call{{"restore", s.Key, receipt}}, press(m, "^u"))
	require.Contains(t, did(m, Restored{Key: s.Key}), call{"list", 2, "", false})
	require.Empty(t, press(m, "^u"))
	require.Contains(t, m.note.text, "sessions undo")
	m.Update(Deleted{Err: errors.New("busy")})
	require.Equal(t, note{"Not removed: busy", true}, m.note)
	m.Update(Restored{Err: errors.New("taken")})
	require.Equal(t, note{"Not brought back: taken", true}, m.note)
	s = *must(m.list.chosen())
	press(m, "^d")
	m.Update(Planned{Session: s, Err: errors.New("gone")})
	require.Equal(t, note{"Not removed: gone", true}, m.note)
}

// TestChangeWhileReading forks and removes a session before a reading has ended.
func TestChangeWhileReading(t *testing.T) {
	t.Parallel()
	m, _ := newRecorded(Options{Now: time.Now})
	a, b := Session{Key: Key{"-p", "a"}}, Session{Key: Key{"-p", "b"}}
	forked := Session{Key: Key{"-p", "f"}, Fork: true}
	m.Update(Listed{Gen: 1, Sessions: []Session{a}})
	require.Contains(t, did(m, Forked{Key: forked.Key, Turn: 1}), call{"list", 2, "", false})
	m.Update(Listed{Gen: 1, Sessions: []Session{b}, Done: true})
	m.Update(Listed{Gen: 2, Sessions: []Session{forked}})
	require.Equal(t, 1, m.list.shown)

	require.Contains(t, did(m, Deleted{Key: a.Key}), call{"list", 3, "", false})
	m.Update(Listed{Gen: 2, Sessions: []Session{a, b}, Done: true})
	require.Zero(t, m.list.shown, "the removed session is not there again")
	m.Update(Listed{Gen: 3, Sessions: []Session{forked, b}, Done: true})
	require.Equal(t, 2, m.list.shown)
	require.Equal(t, forked.Key, m.list.choice())
}

func TestExportKeys(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	k := m.list.choice()
	press(m, "^x")
	require.Equal(t, "11111111.md", m.input)
	require.Equal(t, []call{{"export", k, "11111111.md"}}, press(m, "enter"))
	m.Update(Exported{File: "a\x1b.md"})
	require.Equal(t, note{text: "Exported to a\ufffd.md. Look for secrets before you publish it."}, m.note)
	m.Update(Exported{Err: errors.New("is there")})
	require.True(t, m.note.bad)
	require.Empty(t, press(m, "^x", "ctrl+u", "enter"), "without a name nothing is written")
	require.Empty(t, press(m, "^x", "esc"))
}

func TestSearchKeys(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	press(m, "^/")
	write(m, "Lis bon")
	require.Equal(t, []call{{"list", 2, "", true}, {"search", 1, "Lis bon", ""}}, press(m, "enter"))
	require.Zero(t, m.list.shown)
	k := Key{"-b", "2"}
	m.Update(Found{Gen: 1, Key: k, Excerpts: []Excerpt{{"user", "a ", "lis bon", " b"}}})
	m.Update(Found{Gen: 1, Key: Key{"sub", "session"}})
	require.Equal(t, k, m.list.choice())
	require.Equal(t, 1, m.list.shown)
	m.Update(Found{Gen: 1, Done: true, Err: errors.New("one is damaged")})
	require.False(t, m.found.running)
	require.Contains(t, m.note.text, "one is damaged")
	require.Contains(t, press(m, "esc"), call{"search", 2, "", ""}, "a search that runs ends")
	require.Equal(t, 3, m.list.shown)
	m.Update(Found{Gen: 1, Key: k})
	require.Empty(t, m.found.hits, "that came too late")
}

// TestNothingChosen presses every key in an empty list.
func TestNothingChosen(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"enter", "tab", "^f", "^x", "^d", "^u", "^r", "^y", "^s", "^a", "ctrl+a", "left", "right", "shift+up", "shift+down", "up", "down", "pgup", "pgdown", "home", "end", "^?", "1"} {
		m, _ := newRecorded(Options{Now: time.Now})
		m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
		m.Update(Listed{Gen: 1, Done: true})
		require.Empty(t, press(m, key), key)
	}
}

// TestPreviewScroll scrolls no further than there is text.
func TestPreviewScroll(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	press(m, "shift+up")
	m.draw(80, 24)
	require.Zero(t, m.preview.scroll)
	var all []Passage
	for range 20 {
		all = append(all, said("user", "x"))
	}
	m.Update(Previewed{Key: m.list.choice(), Passages: all})
	for range 100 {
		press(m, "shift+up")
	}
	require.Contains(t, screenText(m, 80, 24), "\n\nYou\nx\n", "the first text is below the facts")
	first := m.preview.scroll
	require.Greater(t, first, 40)
	press(m, "shift+up")
	m.draw(80, 24)
	require.Equal(t, first, m.preview.scroll)
	press(m, "shift+down")
	require.Equal(t, first-1, m.preview.scroll)
}
