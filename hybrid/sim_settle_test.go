package hybrid

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// settle ends all faults, and lets everybody come into step.
func (w *world) settle() {
	w.place.inject(nil)
	for _, d := range w.devices {
		w.endPythons(d)
		d.life.set(false, 0)
		if w.ruled && d.rules == nil { // who has none must not judge what others redacted
			d.rules = Secrets()
			w.reopen(d, false)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.buried)) {
		w.finishBurial(id)
	}
	for round := 0; ; round++ {
		time.Sleep(15 * time.Minute)
		if !w.exchange() {
			return
		}
		require.Less(w.t, round, 20, "the devices do not come to rest")
	}
}

// finishBurial ends what a fault may have interrupted.
func (w *world) finishBurial(id string) {
	time.Sleep(15 * time.Minute)
	err := w.devices[0].Remove(w.ctx(), id)
	if errors.Is(err, sessionstore.ErrNotFound) {
		delete(w.buried, id)
		return
	}
	require.NoError(w.t, err)
}

// exchange lets each device sync once, and reports whether anything moved.
func (w *world) exchange() (moved bool) {
	for _, d := range w.devices {
		before := w.reader.heads()
		s, err := d.Sync(w.ctx())
		w.calm(d, err)
		w.checkOwn("a sync") // what it took away may come again by the next
		p, err := d.Pull(w.ctx())
		w.calm(d, err)
		w.checkOwn("a pull")
		standing := w.standing(d)
		if *simVerbose {
			w.t.Log(time.Since(simStart), d.name, "synced", s, "pulled", p, standing)
		}
		moved = moved || strings.Contains(standing, Behind.String()) // who lost what it knew waits until files were quiet
		moved = moved || s.Pushed+p.Pulled+len(s.Conflicts)+len(p.Conflicts) > 0 || w.reader.heads() != before
	}
	return moved
}

// standing tells how a device's sessions stand.
func (w *world) standing(d *gadget) (text string) {
	all, err := d.Status(w.ctx())
	require.NoError(w.t, err)
	for _, s := range all {
		text += fmt.Sprintf("%.8s %s %d/%d, ", s.SessionID, s.State, s.Local, s.Remote)
	}
	return text
}

// calm is expected without any fault: sessions that were removed from the
// cloud while somebody added to them are all that may complain.
func (w *world) calm(d *gadget, err error) {
	w.t.Helper()
	if err == nil {
		return
	}
	list := []error{err}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		list = many.Unwrap()
	}
	for _, e := range list {
		if !errors.Is(e, ErrRemoved) {
			require.NoError(w.t, e, d.name)
		}
	}
}

// rewindInCalm rewinds a session on one device. All others must follow, also
// one that forgot what it knew.
func (w *world) rewindInCalm(forget bool) {
	d := w.pick()
	id := w.session(d)
	if cloud, err := w.reader.sessions(); id == "" || err != nil || cloud[id] == nil {
		return
	}
	if o := w.pick(); forget && o != d {
		w.reopen(o, true) // without what it knew, d's shorter history would only be an old one
	}
	if *simVerbose {
		w.t.Log(time.Since(simStart), "rewind in calm", d.name, id)
	}
	before := w.here(d, id)
	err := w.rewindTo(d, id)
	require.NoError(w.t, err)
	want := w.leaving(d, id, "transcript.jsonl")
	_, err = d.Sync(w.ctx(), id)
	w.calm(d, err)
	w.settle()
	for _, o := range w.devices {
		if !o.without(id) {
			require.Equal(w.t, want, w.leaving(o, id, "transcript.jsonl"), "the rewind of %s on %s did not reach %s, or did not stay", id, d.name, o.name)
		}
	}
	found := w.reader.reachable()
	for mark := range before {
		require.True(testenv.Lost(w.t), found[mark], "%s was rewound and is gone", mark)
	}
	w.check()
}

// restoreElsewhere brings everything to a new device, and one of the former
// histories back on all.
func (w *world) restoreElsewhere() {
	d := w.add("new")
	w.settle()
	w.check()
	cloud, err := w.reader.sessions()
	require.NoError(w.t, err)
	for _, id := range slices.Sorted(maps.Keys(cloud)) {
		if cloud[id] == nil {
			require.False(w.t, d.Exists(id), "%s was removed", id)
			continue
		}
		branches, err := d.Histories(w.ctx(), id)
		require.NoError(w.t, err)
		if len(branches) == 0 {
			continue
		}
		b := branches[w.rand.IntN(len(branches))]
		require.NoError(w.t, d.Restore(w.ctx(), id, b))
		w.settle()
		w.check()
		s, err := d.Load(w.ctx(), id)
		require.NoError(w.t, err)
		require.Len(w.t, s.Messages, b.Messages)
		return
	}
}
