package picker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
)

// world is a store that does what is asked for when chance says so, and tells of it later.
type world struct {
	t        *testing.T
	r        *rand.Rand
	m        *Model
	sessions []Session // newest first
	turnsOf  map[Key]int
	trash    map[Key]Session
	made     int
	waiting  []func() []tea.Msg // actions that are not done
	told     [][]tea.Msg        // messages of each action, in order
	hosts    int                // and pagers that run
	asking   Key                // of the question that was asked last
	asked    Key                // of the question that a person reads
}

// later does an action at some time.
func (w *world) later(do func() tea.Msg) tea.Cmd {
	w.waiting = append(w.waiting, func() []tea.Msg { return []tea.Msg{do()} })
	return nil
}

// lend runs a program on the terminal.
func (w *world) lend(k Key, turns int) tea.Cmd {
	w.hosts++
	require.Equal(w.t, 1, w.hosts, "one program at a time has the terminal")
	return w.later(func() tea.Msg {
		w.turnsOf[k] += turns
		return Returned{Key: k}
	})
}

func (w *world) find(k Key) int {
	return slices.IndexFunc(w.sessions, func(s Session) bool { return s.Key == k })
}

func (w *world) list(gen int, _ string, _ bool) tea.Cmd {
	w.waiting = append(w.waiting, func() []tea.Msg {
		all := slices.Clone(w.sessions)
		half := w.r.IntN(len(all) + 1)
		return []tea.Msg{Listed{Gen: gen, Sessions: all[:half]}, Listed{Gen: gen, Sessions: all[half:], Done: true}}
	})
	return nil
}

func (w *world) preview(k Key) tea.Cmd {
	return w.later(func() tea.Msg {
		return Previewed{Key: k, Passages: []Passage{said("user", strconv.Itoa(w.turnsOf[k]))}}
	})
}

func (w *world) turns(k Key) tea.Cmd {
	return w.later(func() tea.Msg {
		e := TurnsRead{Key: k}
		for i := range w.turnsOf[k] {
			e.Turns = append(e.Turns, strconv.Itoa(i))
		}
		return e
	})
}

func (w *world) fork(_ Key, turn int) tea.Cmd {
	return w.later(func() tea.Msg {
		w.made++
		s := at("/b", fmt.Sprint("fork", w.made), "")
		w.sessions, w.turnsOf[s.Key] = slices.Insert(w.sessions, 0, s), turn
		return Forked{Key: s.Key, Turn: turn}
	})
}

func (w *world) plan(s Session) tea.Cmd {
	return w.later(func() tea.Msg { return Planned{Session: s, Refused: w.find(s.Key) < 0} })
}

func (w *world) remove(s Session, _ []trash.Kind) tea.Cmd {
	require.Equal(w.t, w.asked, s.Key, "what was asked for is removed")
	return w.later(func() tea.Msg {
		i := w.find(s.Key)
		if i < 0 {
			return Deleted{Key: s.Key, Err: errOdd("gone")}
		}
		w.trash[s.Key] = w.sessions[i]
		w.sessions = slices.Delete(w.sessions, i, i+1)
		return Deleted{Key: s.Key, Receipt: trash.Receipt{ID: s.ID}}
	})
}

func (w *world) restore(k Key, _ trash.Receipt) tea.Cmd {
	return w.later(func() tea.Msg {
		s, ok := w.trash[k]
		if !ok {
			return Restored{Key: k, Err: errOdd("not there")}
		}
		delete(w.trash, k)
		w.sessions = append(w.sessions, s)
		return Restored{Key: k}
	})
}

func (w *world) check(s Session) tea.Cmd {
	return w.later(func() tea.Msg { return Checked{Session: s} })
}
func (w *world) show(s Session) tea.Cmd             { return w.lend(s.Key, 0) }
func (w *world) onward(s Session, _ string) tea.Cmd { return w.lend(s.Key, 1) }
func (w *world) resume(s Session) tea.Cmd           { return w.lend(s.Key, 1) }
func (*world) watch() tea.Cmd                       { return nil }
func (*world) search(int, string, string) tea.Cmd   { return nil }
func (*world) export(Key, string) tea.Cmd           { return nil }
func (*world) rename(Key, string) tea.Cmd           { return nil }
func (*world) makeDir(Session) tea.Cmd              { return nil }
func (*world) seek() tea.Cmd                        { return nil }
func (*world) bring() tea.Cmd                       { return nil }
func (*world) stopImport()                          {}

// step does an action, or tells of one; it reports whether there was one.
func (w *world) step(t *testing.T) bool {
	if n := len(w.waiting); n > 0 && (len(w.told) == 0 || w.r.IntN(2) == 0) {
		i := w.r.IntN(n)
		do := w.waiting[i]
		w.waiting = slices.Delete(w.waiting, i, i+1)
		if events := do(); len(events) > 0 {
			w.told = append(w.told, events)
		}
		return true
	}
	if len(w.told) == 0 {
		return false
	}
	i := w.r.IntN(len(w.told))
	e := w.told[i][0]
	if w.told[i] = w.told[i][1:]; len(w.told[i]) == 0 {
		w.told = slices.Delete(w.told, i, i+1)
	}
	if _, ok := e.(Returned); ok {
		w.hosts--
	}
	was := w.m.mode
	w.m.Update(e)
	if p, ok := e.(Planned); ok && was != asking && w.m.mode == asking {
		w.asking = p.Session.Key
	}
	if was != browsing && was != forking {
		require.Equal(t, was, w.m.mode, "%T takes no keys from a person", e)
	}
	return true
}

// press presses a key. A person answers the question that is on the screen.
func (w *world) press(name string) {
	w.asked = Key{}
	if w.m.mode == asking {
		w.asked = w.asking
	}
	for letter := range strings.SplitSeq(strings.ReplaceAll(name, "^", "ctrl+k "), " ") {
		w.m.Update(key(letter))
	}
}

// TestAnyOrder has actions done and told of in any order while a person
// presses keys. In the end the picker shows what is stored.
func TestAnyOrder(t *testing.T) {
	t.Parallel()
	keys := []string{"up", "down", "^f", "enter", "enter", "^d", "^d", "y", "y", "n", "^u", "esc", "tab", "^x", "^?", "ctrl+k", "noticed"}
	for seed := range uint64(600) {
		w := &world{t: t, r: rand.New(rand.NewPCG(seed, 1)), turnsOf: map[Key]int{}, trash: map[Key]Session{}}
		for _, id := range []string{"1", "2", "3"} {
			s := at("/b", id, "")
			w.sessions, w.turnsOf[s.Key] = append(w.sessions, s), 2
		}
		w.m = New(Options{Now: func() time.Time { return noon }, Host: "amplifier"}, w)
		w.m.Init()
		w.m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
		for range 60 {
			if w.r.IntN(3) == 0 {
				key := keys[w.r.IntN(len(keys))]
				if key == "noticed" {
					w.m.Update(Noticed{})
					continue
				}
				if key == "esc" && w.m.mode == browsing { // which would quit
					continue
				}
				w.press(key)
				continue
			}
			w.step(t)
		}
		for w.step(t) {
		}
		var shown, stored []Key
		for _, s := range w.m.list.all {
			shown = append(shown, s.Key)
		}
		for _, s := range w.sessions {
			stored = append(stored, s.Key)
		}
		require.ElementsMatch(t, stored, shown, "seed %d", seed)
		require.Zero(t, w.hosts)
		if k := w.m.list.choice(); k != (Key{}) {
			require.Equal(t, []Passage{said("user", strconv.Itoa(w.turnsOf[k]))}, w.m.preview.passages, "seed %d: the preview of %v", seed, k)
		}
	}
}
