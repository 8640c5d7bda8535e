package hybrid

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
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
		{"apart", 2, (*world).apart},
		{"describe", 3, (*world).describe},
		{"remark", 3, (*world).remark},
		{"configure", 5, (*world).configure},
		{"event", 3, (*world).event},
		{"phase", 2, (*world).phase},
		{"talk", 2, (*world).talk},
		{"history", 1, (*world).stateHistory},
		{"offline", 4, func(w *world, d *gadget, _ string) { d.life.set(w.rand.IntN(2) == 0, 0) }},
		{"refused", 1, (*world).refused},
		{"crash", 3, (*world).crash},
		{"power", 2, (*world).power},
		{"redact", 1, (*world).redact},
		{"reopen", 1, func(w *world, d *gadget, _ string) { w.reopen(d, w.rand.IntN(2) == 0) }},
		{"sync", 10, (*world).sync},
		{"pull", 5, (*world).pull},
		{"prune", 3, (*world).prune},
		{"week", 1, (*world).week},
		{"delete", 1, (*world).remove},
		{"bury", 2, (*world).bury},
		{"recreate", 5, (*world).recreate},
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

// step does one step on one device, and starts the device again if it crashed.
func (w *world) step() {
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
	w.trace.note("%v %s %s %q", time.Since(simStart), w.weights[i].name, d.name, id)
	w.sum.did(w.weights[i].name)
	if *simVerbose {
		w.t.Log(time.Since(simStart), w.weights[i].name, d.name, id)
	}
	w.weights[i].do(w, d, id)
	w.breathe()
	w.checkTimes(w.weights[i].name)
	w.checkOwn(w.weights[i].name)
	if d.life.dead() {
		w.reopen(d, w.rand.IntN(3) == 0)
	}
}

// session returns a session that is on d, "" for none.
func (w *world) session(d *gadget) string {
	ids := w.ids(d)
	if len(ids) == 0 {
		return ""
	}
	return ids[w.rand.IntN(len(ids))]
}

// ids returns the sessions that are on d.
func (w *world) ids(d *gadget) (ids []string) {
	infos, err := d.List(w.ctx(), &sessionstore.ListOptions{All: true})
	require.NoError(w.t, err)
	for _, info := range infos {
		ids = append(ids, info.ID)
	}
	slices.Sort(ids)
	return ids
}

// everywhere returns the sessions that are on any device.
func (w *world) everywhere() map[string]bool {
	all := map[string]bool{}
	for _, d := range w.devices {
		for _, id := range w.ids(d) {
			all[id] = true
		}
	}
	return all
}

// free reports whether this device's user may write the session with the
// library: it is there, and no other program has it open.
func (w *world) free(d *gadget, id string) bool { return id != "" && d.pythons[id] == nil }

// expected fails the test for errors that no fault explains.
func (w *world) expected(d *gadget, err error) {
	w.t.Helper()
	for _, e := range []error{
		ErrUnreachable, ErrBlocked, ErrUnauthorized, ErrRedaction, ErrContended, ErrDeferred, ErrDamaged, ErrRemoved,
		sessionstore.ErrConflict, sessionstore.ErrLocked, sessionstore.ErrNotFound,
	} {
		if errors.Is(err, e) {
			return
		}
	}
	if errors.Is(err, ErrHeld) && w.hasOrphan(d) {
		return
	}
	if err != nil && !d.life.dead() {
		require.NoError(w.t, err, d.name)
	}
}

// hasOrphan reports whether a device has an orphan.
func (w *world) hasOrphan(d *gadget) bool {
	w.t.Helper()
	cloud, err := w.reader.sessions()
	require.NoError(w.t, err)
	return slices.ContainsFunc(w.ids(d), func(id string) bool { return w.orphan(d, id, cloud) })
}

// orphan reports whether a session of a device has a parent that is neither on the device nor
// in the cloud: where there are rules, it is held back.
func (w *world) orphan(d *gadget, id string, cloud map[string]*cloudSession) bool {
	md, err := d.Metadata(w.ctx(), id)
	parent := md.Text("parent_id")
	return err == nil && parent != "" && !d.Exists(parent) && cloud[parent] == nil
}

func (w *world) begin(d *gadget, id string) {
	msgs := w.turn()
	md, err := sessionstore.ParseMetadata(fmt.Appendf(nil, `{"session_id": %q, "name": "the %s", %s}`, id, id, w.oddMembers()))
	require.NoError(w.t, err)
	err = d.Save(w.ctx(), id, msgs, md)
	w.ack(d, id, msgs, err)
	if err == nil {
		w.noteOf(d, id)
	}
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
	if !w.free(d, id) || w.forks > 3 || w.stays(d, id) {
		return
	}
	s, err := d.Load(w.ctx(), id)
	if err != nil || slice.CountTurns(s.Messages) == 0 {
		w.expected(d, err)
		return
	}
	w.forks++
	_, err = slice.Fork(w.ctx(), d.Store.Store, id, &slice.ForkOptions{
		Events: true, Turn: new(1 + w.rand.IntN(slice.CountTurns(s.Messages))), NewID: fmt.Sprint("fork-", w.forks),
	})
	w.expected(d, err)
}

func (w *world) describe(d *gadget, id string) {
	if !w.free(d, id) {
		return
	}
	key, value := fmt.Sprint("m", w.rand.IntN(3)), w.rand.IntN(1000)
	mark := w.reader.mark()
	_, err := d.UpdateMetadata(w.ctx(), id, func(md *sessionstore.Metadata) error {
		return errors.Join(md.Set(key, value), md.Set("x"+mark, mark))
	})
	w.ackMark(d, id, head.Metadata, mark, err)
}
