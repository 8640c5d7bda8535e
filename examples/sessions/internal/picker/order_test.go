package picker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
)

// world is a store that carries out commands when chance says so, and tells of them
// later.
type world struct {
	r        *rand.Rand
	m        *Model
	sessions []Session // newest first
	turns    map[Key]int
	trash    map[Key]Session
	made     int
	waiting  []func() []Event // commands that are not carried out
	told     [][]Event        // events of each command, in order
	hosts    int              // and pagers that run
	asked    Key              // of the question that a person reads
}

// do takes commands over.
func (w *world) do(t *testing.T, todo []Command) {
	for _, c := range todo {
		switch c := c.(type) {
		case Resume, Show:
			w.hosts++
			require.Equal(t, 1, w.hosts, "one program at a time has the terminal")
		case Delete:
			require.Equal(t, w.asked, c.Session.Key, "what was asked for is removed")
		}
		w.waiting = append(w.waiting, func() []Event { return w.carryOut(c) })
	}
}

func (w *world) find(k Key) int {
	return slices.IndexFunc(w.sessions, func(s Session) bool { return s.Key == k })
}

func (w *world) carryOut(c Command) []Event {
	switch c := c.(type) {
	case List:
		all := slices.Clone(w.sessions)
		half := w.r.IntN(len(all) + 1)
		return []Event{Listed{Gen: c.Gen, Sessions: all[:half]}, Listed{Gen: c.Gen, Sessions: all[half:], Done: true}}
	case Preview:
		return []Event{Previewed{Key: c.Key, Passages: []Passage{said("user", strconv.Itoa(w.turns[c.Key]))}}}
	case Turns:
		e := TurnsRead{Key: c.Key}
		for i := range w.turns[c.Key] {
			e.Turns = append(e.Turns, strconv.Itoa(i))
		}
		return []Event{e}
	case Fork:
		w.made++
		s := at("/b", fmt.Sprint("fork", w.made), "")
		w.sessions, w.turns[s.Key] = slices.Insert(w.sessions, 0, s), c.Turn
		return []Event{Forked{Key: s.Key, Turn: c.Turn}}
	case Plan:
		return []Event{Planned{Session: c.Session, Refused: w.find(c.Session.Key) < 0}}
	case Check:
		return []Event{Checked{Session: c.Session}}
	case Show:
		return []Event{Returned{Key: c.Session.Key}}
	case Resume:
		w.turns[c.Session.Key]++
		return []Event{Returned{Key: c.Session.Key}}
	default:
		return w.move(c)
	}
}

// move carries out what leads to the trash and back.
func (w *world) move(c Command) []Event {
	switch c := c.(type) {
	case Delete:
		i := w.find(c.Session.Key)
		if i < 0 {
			return []Event{Deleted{Key: c.Session.Key, Err: errOdd("gone")}}
		}
		w.trash[c.Session.Key] = w.sessions[i]
		w.sessions = slices.Delete(w.sessions, i, i+1)
		return []Event{Deleted{Key: c.Session.Key, Receipt: trash.Receipt{ID: c.Session.ID}}}
	case Restore:
		s, ok := w.trash[c.Key]
		if !ok {
			return []Event{Restored{Key: c.Key, Err: errOdd("not there")}}
		}
		delete(w.trash, c.Key)
		w.sessions = append(w.sessions, s)
		return []Event{Restored{Key: c.Key}}
	}
	return nil
}

// step carries a command out, or tells of one; it reports whether there was one.
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
	w.do(t, w.m.Update(e))
	if was != browsing && was != forking {
		require.Equal(t, was, w.m.mode, "%T takes no keys from a person", e)
	}
	return true
}

// press presses a key. A person answers the question that is on the screen.
func (w *world) press(t *testing.T, key string) {
	w.asked = Key{}
	if removal, ok := w.m.ask.yes.(Delete); ok && w.m.mode == asking {
		w.asked = removal.Session.Key
	}
	w.do(t, press(w.m, key))
}

// TestAnyOrder has commands carried out and told of in any order while a person
// presses keys. In the end the picker shows what is stored.
func TestAnyOrder(t *testing.T) {
	t.Parallel()
	keys := []string{"up", "down", "^f", "enter", "enter", "^d", "^d", "y", "y", "n", "^u", "esc", "tab", "^x", "^?", "ctrl+k", "noticed"}
	for seed := range uint64(600) {
		w := &world{r: rand.New(rand.NewPCG(seed, 1)), turns: map[Key]int{}, trash: map[Key]Session{}}
		for _, id := range []string{"1", "2", "3"} {
			s := at("/b", id, "")
			w.sessions, w.turns[s.Key] = append(w.sessions, s), 2
		}
		m, first := newStill()
		w.m = m
		w.do(t, first)
		for range 60 {
			if w.r.IntN(3) == 0 {
				key := keys[w.r.IntN(len(keys))]
				if key == "noticed" {
					w.do(t, w.m.Update(Noticed{}))
					continue
				}
				if key == "esc" && w.m.mode == browsing { // which would quit
					continue
				}
				w.press(t, key)
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
			require.Equal(t, []Passage{said("user", strconv.Itoa(w.turns[k]))}, w.m.preview.passages, "seed %d: the preview of %v", seed, k)
		}
	}
}

// newStill returns a model at a time that stands still, and what it begins with.
func newStill() (*Model, []Command) {
	m, todo := New(Options{Now: func() time.Time { return noon }, Host: "amplifier"})
	m.Update(Resized{80, 24})
	return m, todo
}
