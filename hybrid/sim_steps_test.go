package hybrid

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// simStep is something that happens on a device, and how often.
type simStep struct {
	name   string
	weight int
	do     func(w *world, d *gadget, id string)
}

func simAll() []simStep {
	return []simStep{
		{"append", 12, (*world).append},
		{"save", 5, (*world).save},
		{"rewind", 2, (*world).rewind},
		{"repair", 2, (*world).repair},
		{"fork", 1, (*world).fork},
		{"oldpython", 5, (*world).oldPython},
		{"newpython", 5, (*world).newPython},
		{"describe", 3, (*world).describe},
		{"log", 3, (*world).log},
		{"offline", 4, func(w *world, d *gadget, _ string) { d.life.set(w.rand.IntN(2) == 0) }},
		{"crash", 3, (*world).crash},
		{"reopen", 1, func(w *world, d *gadget, _ string) { w.reopen(d, w.rand.IntN(2) == 0) }},
		{"sync", 10, func(w *world, d *gadget, _ string) { _, err := d.Sync(w.ctx()); w.expected(d, err) }},
		{"pull", 5, func(w *world, d *gadget, _ string) { _, err := d.Pull(w.ctx()); w.expected(d, err) }},
		{"delete", 1, (*world).remove},
		{"bury", 1, (*world).bury},
	}
}

// parseWeights returns the steps with the weights that text changes.
func parseWeights(text string) ([]simStep, error) {
	all := simAll()
	for part := range strings.SplitSeq(text, ",") {
		if part == "" {
			continue
		}
		name, number, _ := strings.Cut(part, "=")
		i := slices.IndexFunc(all, func(s simStep) bool { return s.name == name })
		n, err := strconv.Atoi(number)
		if i < 0 || err != nil || n < 0 {
			return nil, fmt.Errorf("no weight: %q", part)
		}
		all[i].weight = n
	}
	return all, nil
}

func (w *world) ctx() context.Context { return context.Background() }

// act does one step on one device, and starts the device again if it crashed.
func (w *world) act() {
	total := 0
	for _, s := range w.weights {
		total += s.weight
	}
	n := w.rand.IntN(total)
	i := 0
	for ; n >= w.weights[i].weight; i++ {
		n -= w.weights[i].weight
	}
	d := w.pick()
	id := w.session(d)
	if *simVerbose {
		w.t.Log(w.weights[i].name, d.name, id)
	}
	w.weights[i].do(w, d, id)
	if d.life.dead() {
		w.reopen(d, w.rand.IntN(3) == 0)
	}
}

// session returns a session that is on d, "" for none.
func (w *world) session(d *gadget) string {
	infos, err := d.List(w.ctx(), &sessionstore.ListOptions{All: true})
	require.NoError(w.t, err)
	if len(infos) == 0 {
		return ""
	}
	slices.SortFunc(infos, func(a, b sessionstore.Info) int { return cmp.Compare(a.ID, b.ID) })
	return infos[w.rand.IntN(len(infos))].ID
}

// free reports whether this device's user may write the session with the
// library: it is there, and no other program has it open.
func (w *world) free(d *gadget, id string) bool { return id != "" && d.pythons[id] == nil }

// expected fails the test for errors that no fault explains.
func (w *world) expected(d *gadget, err error) {
	w.t.Helper()
	for _, e := range []error{
		ErrUnreachable, ErrContended, ErrDeferred, ErrDamaged, ErrDeleted, ErrShared,
		sessionstore.ErrConflict, sessionstore.ErrLocked, sessionstore.ErrNotFound,
	} {
		if errors.Is(err, e) {
			return
		}
	}
	if err != nil && !d.life.dead() {
		require.NoError(w.t, err, d.name)
	}
}

func (w *world) begin(d *gadget, id string) {
	msgs := w.turn()
	md, err := sessionstore.ParseMetadata(fmt.Appendf(nil, `{"session_id": %q, "name": "the %s"}`, id, id))
	require.NoError(w.t, err)
	w.ack(d, id, msgs, d.Save(w.ctx(), id, msgs, md))
}

func (w *world) append(d *gadget, id string) {
	if w.free(d, id) {
		msgs := w.turn()
		w.ack(d, id, msgs, d.Append(w.ctx(), id, msgs...))
	}
}

// save writes the whole session, as a program does that has it in memory.
func (w *world) save(d *gadget, id string) {
	if !w.free(d, id) {
		return
	}
	w.losing(d, id, func() {
		s, err := d.Load(w.ctx(), id)
		if w.expected(d, err); err != nil {
			return
		}
		msgs := w.turn()
		w.ack(d, id, msgs, d.Save(w.ctx(), id, append(s.Messages, msgs...), s.Metadata))
	})
}

func (w *world) rewind(d *gadget, id string) {
	if w.free(d, id) {
		w.losing(d, id, func() { w.expected(d, w.rewindTo(d, id)) })
	}
}

func (w *world) rewindTo(d *gadget, id string) error {
	s, err := d.Load(w.ctx(), id)
	if err != nil {
		return err
	}
	turns := slice.CountTurns(s.Messages)
	if turns < 2 {
		return nil
	}
	_, err = slice.RewindSessionTo(w.ctx(), d.Store.Store, id, 1+w.rand.IntN(turns-1), slice.Complete)
	if errors.Is(err, slice.ErrStillBroken) {
		return nil
	}
	return err
}

func (w *world) repair(d *gadget, id string) {
	if w.free(d, id) {
		w.losing(d, id, func() {
			_, err := slice.RepairSession(w.ctx(), d.Store.Store, id)
			w.expected(d, err)
		})
	}
}

func (w *world) fork(d *gadget, id string) {
	if !w.free(d, id) || w.forks > 3 {
		return
	}
	s, err := d.Load(w.ctx(), id)
	if err != nil || slice.CountTurns(s.Messages) == 0 {
		w.expected(d, err)
		return
	}
	w.forks++
	_, err = slice.Fork(w.ctx(), d.Store.Store, id, &slice.ForkOptions{
		Turn: 1 + w.rand.IntN(slice.CountTurns(s.Messages)), NewID: fmt.Sprint("fork-", w.forks),
	})
	w.expected(d, err)
}

func (w *world) describe(d *gadget, id string) {
	if !w.free(d, id) {
		return
	}
	_, err := d.UpdateMetadata(w.ctx(), id, func(md *sessionstore.Metadata) error {
		return md.Set(fmt.Sprint("m", w.rand.IntN(3)), w.rand.IntN(1000))
	})
	w.expected(d, err)
}

// log appends to the session's events, which are this device's alone.
func (w *world) log(d *gadget, id string) {
	if !w.free(d, id) {
		return
	}
	f, err := os.OpenFile(filepath.Join(d.dir, id, "events.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(w.t, err)
	_, err = fmt.Fprintf(f, "{\"event\": \"tool:pre\", \"note\": \"%s %d\"}\n", d.name, w.rand.Uint32())
	require.NoError(w.t, errors.Join(err, f.Close()))
}

// crash ends a device at some change of its disk or half of a request.
func (w *world) crash(d *gadget, id string) {
	d.life.set(false)
	d.life.cut(w.rand.IntN(60))
	if w.free(d, id) && w.rand.IntN(2) == 0 {
		w.append(d, id)
	}
	_, err := d.Sync(w.ctx())
	w.expected(d, err)
	_, err = d.Pull(w.ctx())
	w.expected(d, err)
	d.life.cut(0)
	_ = d.life.step()
}

// remove removes a session here. It must stay removed if a sync has seen it
// here since the bookkeeping was last lost, else it may: nobody else knows.
func (w *world) remove(d *gadget, id string) {
	if !w.free(d, id) {
		return
	}
	seen := d.engine.states.load(d.sid(id), id).Here
	w.losing(d, id, func() {
		err := d.Delete(w.ctx(), id)
		if w.expected(d, err); err == nil {
			d.removed[id] = seen
		}
	})
}

// bury removes a session from the cloud; one of them always stays.
func (w *world) bury(d *gadget, id string) {
	if id == "" || id == "s0" || len(w.buried) > 1 || d.life.offline {
		return
	}
	err := d.DeleteRemote(w.ctx(), id)
	if w.expected(d, err); err == nil || !errors.Is(err, ErrShared) && !errors.Is(err, sessionstore.ErrNotFound) {
		w.buried[id] = true
	}
}
