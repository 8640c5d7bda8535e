package picker

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
)

// TestTree has forks below their parents, wherever they were listed, and circles.
func TestTree(t *testing.T) {
	t.Parallel()
	from := func(s Session, parent string, sub bool) Session {
		s.Parent, s.Sub, s.Fork = parent, sub, !sub
		return s
	}
	l := &list{cursor: -1}
	l.add([]Session{at("/b", "9", ""), from(at("/a", "fork", ""), "1", false), at("/a", "2", ""), at("/a", "1", ""), from(at("/a", "deep", ""), "fork", false), from(at("/a", "lost", ""), "gone", false)})
	require.Equal(t, "/b=1 [9] /a=5 1 fork deep 2 lost", drawn(l))
	var depths []int
	for _, it := range l.items {
		depths = append(depths, it.depth)
	}
	require.Equal(t, []int{0, 0, 0, 0, 1, 2, 0, 0}, depths)
	l.add([]Session{from(at("/a", "x", ""), "y", false), from(at("/a", "y", ""), "x", false), from(at("/a", "self", ""), "self", false)})
	require.Equal(t, "/b=1 [9] /a=8 1 fork deep 2 lost x y self", drawn(l))

	l = &list{cursor: -1}
	l.add([]Session{at("/a", "1", "b"), from(at("/a", "sub", "c"), "1", true), at("/a", "2", "a")})
	require.Equal(t, "/a=2 [1] 2", drawn(l))
	l.openSubs(Key{"-a", "1"})
	require.Equal(t, "/a=3 [1] sub 2", drawn(l))
	require.True(t, l.hasSubs(Key{"-a", "1"}))
	l.move(1)
	l.closeSubs()
	require.Equal(t, "/a=2 [1] 2", drawn(l), "the parent is chosen")
	l.sort(byTitle)
	require.Equal(t, "/a=2 2 [1]", drawn(l))
	l.all[1].Sub, l.all[2].Turns = false, 3
	l.sort(byTurns)
	require.Equal(t, "/a=3 2 [1] sub", drawn(l))
}

// TestSubs has sub-sessions read when they are asked for, and not before.
func TestSubs(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	k := m.list.choice()
	require.Contains(t, press(m, "right"), call{"list", 2, "", true})
	sub := at("/home/ada/weather", "sub", "look it up")
	sub.Parent, sub.Sub = k.ID, true
	m.Update(Listed{Gen: 2, Sessions: append([]Session{sub}, m.list.all...), Done: true})
	require.Contains(t, screenText(m, 80, 24), "▸ Weather report")
	require.Contains(t, screenText(m, 80, 24), "\n  └ look it up")
	require.Empty(t, press(m, "left"))
	require.NotContains(t, screenText(m, 80, 24), "look it up")
	press(m, "end", "right")
	require.Contains(t, screenText(m, 80, 24), "It has no sub-sessions.")
}

// TestSearchSubs searches the conversations of sub-sessions, too, which are read for that.
func TestSearchSubs(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	sub := at("/home/ada/weather", "sub", "look it up")
	sub.Parent, sub.Sub = m.list.choice().ID, true
	press(m, "ctrl+f", "x")
	require.Equal(t, []call{{"list", 2, "", true}, {"search", 1, "x", ""}}, press(m, "enter"))
	m.Update(Found{Gen: 1, Key: sub.Key, Excerpts: []Excerpt{{"assistant", "a ", "x", " b"}}})
	m.Update(Listed{Gen: 2, Sessions: append([]Session{sub}, m.list.all...), Done: true})
	require.Contains(t, screenText(m, 80, 24), "▸ └ look it up")
	require.Contains(t, screenText(m, 80, 24), "a »x« b")
	press(m, "esc")
	require.NotContains(t, screenText(m, 80, 24), "look it up", "its parent is not opened")
	press(m, "ctrl+f", "y")
	require.Equal(t, []call{{"search", 3, "y", ""}}, press(m, "enter"), "they were read")
}

// TestLettersFilter types what were commands.
func TestLettersFilter(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"dy", "u", "q", "x.md", "f", "/", "?", "i", "K"} {
		m := newModel(t)
		for _, r := range text {
			for _, c := range press(m, string(r)) {
				require.Equal(t, "preview", c[0])
			}
		}
		require.Equal(t, text, m.list.query)
		require.Equal(t, browsing, m.mode)
	}
	for _, text := range []string{"11111111", "weather", "rprt", "home/ada"} {
		m := newModel(t)
		write(m, text)
		require.Equal(t, "11111111-a", m.list.choice().ID, text)
	}
	m := newModel(t)
	press(m, "ctrl+k")
	require.Contains(t, screenText(m, 80, 24), "d trash  u undo  f fork  x export  r rename  y copy id")
	require.Empty(t, press(m, "w"), "that is no command")
	require.Equal(t, browsing, m.mode)
	require.Empty(t, m.list.query)
	require.Equal(t, []call{{"copy", "11111111-a"}}, press(m, "^y"))
	press(m, "^s")
	require.Contains(t, screenText(m, 80, 24), "Sessions 3 by title")
}

// TestRename gives a session a name.
func TestRename(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	s := *must(m.list.chosen())
	press(m, "^r")
	require.Contains(t, screenText(m, 80, 24), "Name: Weather report")
	press(m, "ctrl+u")
	write(m, "Rain")
	require.Equal(t, []call{{"rename", s.Key, "Rain"}}, press(m, "enter"))
	m.Update(Renamed{Key: s.Key, Name: "Rain"})
	require.Contains(t, screenText(m, 80, 24), "▸ Rain")
	m.Update(Renamed{Key: s.Key, Name: "x", Err: errors.New("full")})
	require.Equal(t, note{"Not renamed: full", true}, m.note)

	st, session := openTest(t)
	done := st.rename(t.Context(), session.Key, "A leak").(Renamed)
	require.Equal(t, Renamed{session.Key, "A leak", done.Kept, nil}, done)
	require.FileExists(t, done.Kept, "undo brings the former name back")
	st.list(t.Context(), 1, "", false, func(e tea.Msg) {
		for _, s := range e.(Listed).Sessions {
			require.Equal(t, "A leak", s.Title)
		}
	})
	require.Error(t, st.rename(t.Context(), Key{"one", "nothing"}, "x").(Renamed).Err)
}

// TestWatch notices sessions that come and go, also in a new project, and what is written
// to the chosen one.
func TestWatch(t *testing.T) {
	t.Parallel()
	s, session := openTest(t)
	noticed := make(chan bool)
	go s.watch(t.Context(), time.Millisecond, func() Key { return session.Key }, func() {
		select {
		case noticed <- true:
		case <-t.Context().Done():
		}
	})
	quiet := func() { // until what was written has settled
		for {
			select {
			case <-noticed:
			case <-time.After(3 * unsettled):
				return
			}
		}
	}
	one, err := s.projects.Store("one")
	require.NoError(t, err)
	two, err := s.projects.Store("two")
	require.NoError(t, err)
	md, err := one.Metadata(t.Context(), session.ID)
	require.NoError(t, err)
	for _, change := range []func() error{
		func() error { return one.Create(t.Context(), "new", md) },
		func() error { return one.Delete(t.Context(), "new") },
		func() error { return two.Create(t.Context(), "first", md) },
		func() error { return s.rename(t.Context(), session.Key, "other").(Renamed).Err },
	} {
		quiet()
		require.NoError(t, change())
		<-noticed
	}
	require.DirExists(t, filepath.Join(s.projects.Dir(), "two"))
}

// TestTypedStays types a name, a filter and a search with characters that terminals draw
// differently: what is typed is what is stored and looked for, and what is drawn is steady.
func TestTypedStays(t *testing.T) {
	t.Parallel()
	const family, persian = "👩\u200d👧 👍\U0001f3fd ❤\ufe0f", "می\u200cخواهم"
	for _, text := range []string{family, persian, "a\u200db", "  two  spaces", "e\u0301", "\U0001f3f4\U000e0067\U000e0062\U000e007f", "שלום\u200f!"} {
		m := newModel(t)
		press(m, "^r", "ctrl+u")
		require.Equal(t, renaming, m.mode)
		write(m, text)
		drawn := screenText(m, 80, 24)
		require.Equal(t, screen.Plain(screen.Steady(drawn)), strings.ReplaceAll(drawn, "\n", " "), "%q", text)
		require.Equal(t, []call{{"rename", m.target.Key, strings.TrimSpace(text)}}, press(m, "enter"))
		m.Update(Renamed{Key: m.target.Key, Name: text})
		press(m, "^r")
		require.Equal(t, text, m.input, "a title is edited as it is stored")
		press(m, "esc")

		write(m, strings.TrimSpace(text))
		require.Equal(t, m.target.Key, must(m.list.chosen()).Key, "the filter finds it: %q", text)
		require.Positive(t, m.list.shown)
		press(m, "esc", "ctrl+f")
		write(m, text)
		gen := m.found.gen + 1
		require.Contains(t, press(m, "enter"), call{"search", gen, strings.TrimSpace(text), m.scope})
	}
	m := newModel(t)
	press(m, "^r", "ctrl+u")
	m.Update(tea.PasteMsg{Content: "a\x1b[31m\nb\u2028\x9b" + family})
	require.Equal(t, "a[31m b "+family, m.input)
	press(m, "backspace", "backspace", "backspace", "backspace")
	require.Equal(t, "a[31m b 👩\u200d👧", m.input, "one key takes one character as it is seen")
}
