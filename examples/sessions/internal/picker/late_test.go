package picker

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
)

// TestLatePlan has plans of removals come when a person does something else, or
// asked for another one since.
func TestLatePlan(t *testing.T) {
	t.Parallel()
	for _, keys := range [][]string{{"^r"}, {"^/"}, {"^x"}, {"^f"}, {"^?"}, {"ctrl+k"}} {
		m := newModel(t)
		s := *must(m.list.chosen())
		press(m, "^d")
		press(m, keys...)
		was := m.mode
		m.Update(Planned{Session: s})
		require.Equal(t, was, m.mode, "what is typed answers no question")
		m.mode = browsing
		m.Update(Planned{Session: s})
		require.Equal(t, browsing, m.mode, "it came once")
	}

	m := newModel(t)
	a := *must(m.list.chosen())
	press(m, "^d", "down")
	b := *must(m.list.chosen())
	press(m, "^d")
	m.Update(Planned{Session: a})
	require.Equal(t, browsing, m.mode)
	m.Update(Planned{Session: b})
	require.Equal(t, asking, m.mode)
	m.Update(Planned{Session: a})
	require.Equal(t, []call{{"remove", b, []trash.Kind(nil)}}, press(m, "y"), "the question stays that which was read")
}

// TestLateCheck has two keys, and a key for a session while its host begins.
func TestLateCheck(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	s := *must(m.list.chosen())
	press(m, "enter", "enter")
	require.Equal(t, []call{{"resume", s}}, did(m, Checked{Session: s}))
	require.Empty(t, did(m, Checked{Session: s}), "it is resumed once")
	require.Empty(t, press(m, "enter"), "that key was meant for the host")
	m.Update(Returned{Key: s.Key})
	require.NotEmpty(t, press(m, "enter"))

	press(m, "^r")
	require.Empty(t, did(m, Checked{Session: s}), "a person who types is not interrupted")
	press(m, "esc", "enter", "down", "^d")
	require.Empty(t, did(m, Checked{Session: s}), "another key counts")
	require.Equal(t, browsing, m.mode)
}

// TestLateTurns has the turns of a session come twice. The second time a person has
// chosen already.
func TestLateTurns(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	k := m.list.choice()
	press(m, "^f", "esc", "^f")
	m.Update(TurnsRead{Key: k, Turns: []string{"a", "b", "c"}})
	press(m, "up")
	m.Update(TurnsRead{Key: k, Turns: []string{"a", "b", "c"}})
	require.Equal(t, []call{{"fork", k, 2}}, press(m, "enter"))
	press(m, "^f")
	m.Update(TurnsRead{Key: k, Turns: []string{"a"}})
	m.Update(TurnsRead{Key: k, Err: errors.New("gone")})
	require.Equal(t, forking, m.mode)
}

// TestLatePreview has a preview come that was read before the session changed.
func TestLatePreview(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	k := m.list.choice()
	require.Equal(t, []call{{"list", 2, "", false}, {"preview", k}}, did(m, Returned{Key: k}))
	require.Equal(t, []call{{"list", 3, "", false}}, did(m, Returned{Key: k}), "one is read at a time")
	require.Equal(t, []call{{"preview", k}}, did(m, Previewed{Key: k, Passages: []Passage{said("user", "old")}}))
	require.False(t, m.preview.loaded)
	require.Empty(t, did(m, Previewed{Key: k, Passages: []Passage{said("user", "new")}}))
	require.Equal(t, []Passage{said("user", "new")}, m.preview.passages)
}

// TestLateFork has a fork and a session from the trash be there when a person has
// gone on: what was chosen stays chosen.
func TestLateFork(t *testing.T) {
	t.Parallel()
	forked := at("/b", "fork", "")
	for _, moved := range []bool{false, true} {
		m := newModel(t)
		k := m.list.choice()
		press(m, "^f")
		m.Update(TurnsRead{Key: k, Turns: []string{"a"}})
		require.Equal(t, []call{{"fork", k, 1}}, press(m, "enter"))
		want := forked.Key
		if moved {
			press(m, "down")
			want = m.list.choice()
		}
		m.Update(Forked{Key: forked.Key, Turn: 1})
		rows := append([]Session{forked}, m.list.all...)
		m.Update(Listed{Gen: 2, Sessions: rows, Done: true})
		require.Equal(t, want, m.list.choice())
	}
	for _, moved := range []bool{false, true} {
		m := newModel(t)
		s := *must(m.list.chosen())
		rows := append([]Session{}, m.list.all...)
		m.Update(Deleted{Key: s.Key, Receipt: trash.Receipt{ID: "r"}})
		require.Contains(t, press(m, "^u"), call{"restore", s.Key, trash.Receipt{ID: "r"}})
		want := s.Key
		if moved {
			press(m, "up")
			want = m.list.choice()
		}
		m.Update(Restored{Key: s.Key})
		m.Update(Listed{Gen: 2, Sessions: rows, Done: true})
		require.Equal(t, want, m.list.choice())
	}
}

// TestLateUndo takes back removals of which one fails. None is taken back twice,
// and none is lost.
func TestLateUndo(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	a, b := m.list.all[0].Key, m.list.all[1].Key
	m.Update(Deleted{Key: a, Receipt: trash.Receipt{ID: "a"}})
	m.Update(Deleted{Key: b, Receipt: trash.Receipt{ID: "b"}})
	require.Contains(t, press(m, "^u"), call{"restore", b, trash.Receipt{ID: "b"}})
	require.Contains(t, press(m, "^u"), call{"restore", a, trash.Receipt{ID: "a"}})
	require.Empty(t, press(m, "^u"))
	m.Update(Restored{Key: a})
	m.Update(Restored{Key: b, Err: errors.New("busy")})
	require.Contains(t, press(m, "^u"), call{"restore", b, trash.Receipt{ID: "b"}})
	m.Update(Restored{Key: b})
	require.Empty(t, press(m, "^u"))
	require.Contains(t, m.note.text, "sessions undo")

	fork := Key{"-b", "fork"}
	m.Update(Deleted{Key: a, Receipt: trash.Receipt{ID: "a"}})
	m.Update(Forked{Key: fork, Turn: 1})
	forked := Session{Key: fork, Title: "the fork"}
	require.Contains(t, press(m, "^u"), call{"plan", forked})
	press(m, "^r")
	m.Update(Planned{Session: forked})
	require.Contains(t, press(m, "esc", "^u"), call{"plan", forked}, "it was not asked yet")
	m.Update(Planned{Session: forked})
	require.Equal(t, []call{{"remove", forked, []trash.Kind(nil)}}, press(m, "y"))
	m.Update(Deleted{Key: fork, Receipt: trash.Receipt{ID: "f"}})
	require.Contains(t, press(m, "^u"), call{"restore", fork, trash.Receipt{ID: "f"}})
	m.Update(Restored{Key: fork})

	m.Update(Forked{Key: fork, Turn: 1})
	press(m, "^u")
	m.Update(Planned{Session: forked, Err: errors.New("it is gone")})
	require.Contains(t, press(m, "^u"), call{"restore", a, trash.Receipt{ID: "a"}}, "what is gone keeps nothing else from being undone")
}
