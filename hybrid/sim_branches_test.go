package hybrid

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// apart lets a device go another way than the cloud while a program runs the session
// here, so that the device stays diverged, and lets the program write on. Each sync
// stores what is new of the same branch.
func (w *world) apart(d *gadget, id string) {
	if id == "" || d.pythons[id] != nil || w.stays(d, id) {
		return
	}
	other := w.hears(d, id)
	if other == nil || !w.free(other, id) {
		return
	}
	if w.newBegin(d, id); d.pythons[id] == nil {
		return // somebody else runs it
	}
	time.Sleep(time.Second)
	w.append(other, id)
	w.send(other, id)
	for range 2 + w.rand.IntN(4) {
		time.Sleep(time.Second)
		w.newPython(d, id) // writes on, or leaves
		w.send(d, id)
		if w.rand.IntN(3) == 0 {
			time.Sleep(time.Second)
			w.append(other, id)
			w.send(other, id)
		}
		if s, _ := d.engine.lastOf(id); s.Last == Diverged && d.pythons[id] != nil {
			w.sum.did("write on while diverged")
		}
	}
}

// send syncs a session, or waits until the device has done it by itself.
func (w *world) send(d *gadget, id string) {
	time.Sleep(time.Second) // as before each step
	if d.running {
		time.Sleep(time.Minute + 5*time.Second)
		return
	}
	_, err := d.Sync(w.ctx(), id)
	w.expected(d, err)
}

// apartInCalm lets a device write on while it is diverged, without any fault. There
// is one branch more then.
func (w *world) apartInCalm() {
	d := w.pick()
	ids := slices.DeleteFunc(w.shared(d), func(id string) bool { return w.hears(d, id) == nil })
	if len(ids) == 0 || d.policy == Ours {
		return
	}
	id := ids[w.rand.IntN(len(ids))]
	other := w.hears(d, id)
	before := len(w.aside(id))
	time.Sleep(time.Second) // a store owns a session for a moment after a write
	w.newBegin(d, id)
	require.NotNil(w.t, d.pythons[id], "%s: a program runs %s", d.name, id)
	for range 3 {
		for _, side := range []*gadget{other, d} {
			if side == d {
				w.newAppend(d, id)
			} else {
				w.append(other, id)
			}
			time.Sleep(time.Second)
			_, err := side.Sync(w.ctx(), id)
			require.NoError(w.t, err)
			time.Sleep(time.Second)
		}
		s, err := d.Status(w.ctx(), id)
		require.NoError(w.t, err)
		require.Equal(w.t, Diverged, s[0].Last, "%s: %s", d.name, id)
		require.Len(w.t, w.aside(id), before+1, "%s: branches of %s", d.name, id)
	}
	w.leave(d, id)
	w.settle()
	require.Len(w.t, w.aside(id), before+1, "%s: branches of %s, when all are in step", d.name, id)
}

// branches returns the branches of a session, without former heads.
func (w *world) branches(id string) []History {
	all, err := w.devices[0].Histories(w.ctx(), id)
	require.NoError(w.t, err)
	return slices.DeleteFunc(all, func(b History) bool { return b.Why != "branch" })
}

// aside returns the branches of a session that are no beginning of its main line: the
// next branch of lines that go on from there replaces one that is.
func (w *world) aside(id string) []History {
	all := w.branches(id)
	cloud, err := w.reader.sessions()
	require.NoError(w.t, err)
	w.reader.mu.Lock()
	defer w.reader.mu.Unlock()
	s := w.reader.shelf()
	return slices.DeleteFunc(all, func(b History) bool {
		text, err := s.history(cloud[id].tip, b.extent.Point())
		require.NoError(w.t, err)
		return bytes.HasPrefix(cloud[id].main, text)
	})
}

// checkBranches requires each divergence to have left one branch.
func (w *world) checkBranches(cloud map[string]*cloudSession) {
	for _, id := range slices.Sorted(maps.Keys(cloud)) {
		if cloud[id] != nil {
			require.Empty(w.t, w.reader.litter(cloud[id].tip, w.branches(id)))
		}
	}
}

// litter tells which branches are the beginning of another one that was not there
// before: of the same divergence, they were to be replaced.
func (r *simReader) litter(t *head.Head, branches []History) (problems []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, texts := r.shelf(), make([]string, len(branches))
	for i, b := range branches {
		text, err := s.history(t, b.extent.Point())
		if err != nil {
			return []string{fmt.Sprintf("branch %s of %s: %v", b.ID, t.Session, err)}
		}
		texts[i] = string(text)
	}
	for i, short := range branches {
		for k, long := range branches {
			if i != k && strings.HasPrefix(texts[k], texts[i]) && !short.At.After(long.At) {
				problems = append(problems, fmt.Sprintf("%s has a branch of %d messages beside one of %d that continues it", t.Session, short.Messages, long.Messages))
			}
		}
	}
	return problems
}

// TestBranchLitterIsFound puts a branch that was replaced back into the list of the
// head. The simulation's check finds it.
func TestBranchLitterIsFound(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	r := newSimReader(heldBy(c.Server))
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("litter", "one", "two")
	a.sync()
	b.pull()
	_, err := b.Acquire(t.Context(), "litter", sessionstore.Owner{App: "test"})
	require.NoError(t, err)
	a.say("litter", "a's way")
	a.sync()
	sid := a.engine.SID("litter")
	var replaced head.History
	for i := range 2 {
		b.say("litter", fmt.Sprint("b's way ", i))
		b.sync()
		found, err := a.Histories(t.Context(), "litter")
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Empty(t, r.litter(c.headOf(t, sid), found))
		if i == 0 {
			replaced = r.shelf().histories[sid][0]
		}
	}

	now := c.headOf(t, sid)
	now.Histories.Add(&replaced)
	encode := func() (segment.Document, error) { return replaced.Encode(sid) }
	for _, encode := range []func() (segment.Document, error){encode, now.Encode} {
		doc, err := encode()
		require.NoError(t, err)
		_, err = a.engine.Connect().Commit(context.Background(), doc.PK, []segment.Document{doc}, nil)
		require.NoError(t, err)
	}
	found, err := a.Histories(t.Context(), "litter")
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Len(t, r.litter(now, found), 1)
}
