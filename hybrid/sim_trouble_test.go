package hybrid

import (
	"errors"
	"maps"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// sync syncs a device. One that does it by itself is left alone while requests
// fail: who of two goroutines tries first is not for the seed to say.
func (w *world) sync(d *gadget, id string) {
	if !d.running {
		_, err := d.Sync(w.ctx(), w.named(id)...)
		w.expected(d, err)
	}
}

// pull never names a session that is not there: who was removed stays so.
func (w *world) pull(d *gadget, id string) {
	if !d.running {
		_, err := d.Pull(w.ctx(), w.named(id)...)
		w.expected(d, err)
	}
}

// named returns a session to be named, or none.
func (w *world) named(id string) []string {
	if id == "" || w.rand.IntN(2) == 0 {
		return nil
	}
	return []string{id}
}

// refused lets the account refuse a device, or no more.
func (w *world) refused(d *gadget, _ string) {
	status := []int{http.StatusUnauthorized, http.StatusForbidden, 0}[w.rand.IntN(3)]
	d.life.set(false, status)
}

// crash ends a device's process at some change of its disk or half of a
// request.
func (w *world) crash(d *gadget, id string) {
	d.life.set(false, 0)
	d.life.cut(w.rand.IntN(60), nil)
	w.busy(d, id)
	d.life.cut(0, nil)
	_ = d.life.step()
}

// power cuts the power of a device. What its disk then holds is one of the
// states that the operations until then may leave.
func (w *world) power(d *gadget, id string) {
	w.endPythons(d)
	rec, err := crashsim.Record(d.dir)
	require.NoError(w.t, err)
	d.life.set(false, 0)
	d.life.cut(w.rand.IntN(60), rec)
	before, known := w.all(d), maps.Clone(w.acked)
	w.busy(d, id)
	d.life.cut(0, rec)
	_ = d.life.step()
	w.expected(d, d.Close())
	w.outage(d, rec)
	if d.safe == sessionstore.Relaxed {
		maps.DeleteFunc(w.notes, func(_ string, n *simNote) bool { return n.by == d })
	}
	for mark := range w.acked {
		before[mark] = before[mark] || known[mark] == nil
	}
	w.mendAll(d)
	w.survived(d, before)
}

// outage makes the device's disk what a power cut leaves of it.
func (w *world) outage(d *gadget, rec *crashsim.Recorder) {
	log, err := rec.Log()
	require.NoError(w.t, err)
	c := crashsim.Crash{Log: log, Seed: w.rand.Uint64(), Seeds: 2, Tears: 3, Max: 40, From: len(log.Steps), To: len(log.Steps)}
	var states []*crashsim.State
	for s, err := range c.States(nil) {
		require.NoError(w.t, err)
		states = append(states, s)
	}
	s := states[w.rand.IntN(len(states))]
	if *simVerbose {
		w.t.Log(s)
	}
	require.NoError(w.t, os.RemoveAll(d.dir))
	require.NoError(w.t, s.Materialise(d.dir))
	require.Empty(w.t, w.images(d), "after a power cut")
	w.reopen(d, w.rand.IntN(4) == 0)
}

// mendAll goes on with sessions as their user would whom the store told that it
// had to recover them: the next write gives everything its place.
func (w *world) mendAll(d *gadget) {
	for _, id := range w.ids(d) {
		s, err := d.Load(w.ctx(), id)
		rows := w.file(d, id, "transcript.jsonl")
		if s == nil || err == nil && s.Recovered == nil && (rows == "" || strings.HasSuffix(rows, "\n")) {
			continue
		}
		msgs := w.turn()
		w.ack(d, id, msgs, d.Save(w.ctx(), id, append(s.Messages, msgs...), s.Metadata))
	}
	for id := range w.everywhere() {
		if _, was := d.removed[id]; !was && !d.Exists(id) && d.engine.States.Load(d.sid(id), id).Here {
			require.NotEqual(testenv.Lost(w.t), sessionstore.Durable, d.safe, "%s: %s is gone", d.name, id)
			d.removed[id] = false // it was never durable, and will not come by itself
		}
	}
}

// survived requires a device to have what it had before the power was cut, where
// the store promises that.
func (w *world) survived(d *gadget, before map[string]bool) {
	here, stored := w.all(d), w.reader.reachable()
	for mark, had := range before {
		if !had || here[mark] || stored[mark] {
			continue
		}
		require.Equal(testenv.Lost(w.t), sessionstore.Relaxed, d.safe, "%s on %s is gone", mark, d.name)
		w.withdrawn[mark] = true
	}
}

// all returns the records in the files of a device.
func (w *world) all(d *gadget) map[string]bool {
	all := map[string]bool{}
	for _, id := range w.ids(d) {
		maps.Copy(all, w.here(d, id))
	}
	return all
}

// redact gives a device rules of its own, or takes them away. Nothing is in the
// records that they would find, but who has other rules may not judge what
// differs.
func (w *world) redact(d *gadget, _ string) {
	if w.rules != nil {
		return
	}
	if d.rules = nil; w.rand.IntN(2) == 0 {
		d.rules, w.ruled = Secrets(), true
	}
	w.endPythons(d)
	w.reopen(d, false)
}

// busy lets a device work, as far as it comes.
func (w *world) busy(d *gadget, id string) {
	if w.free(d, id) && w.rand.IntN(2) == 0 {
		w.append(d, id)
	}
	if d.running {
		time.Sleep(5 * time.Minute)
		return
	}
	w.sync(d, id)
	w.pull(d, id)
}

// remove removes a session here. It must stay removed if a sync has seen it
// here since the bookkeeping was last lost, else it may: nobody else knows.
func (w *world) remove(d *gadget, id string) {
	if !w.free(d, id) {
		return
	}
	st := d.engine.States.Load(d.sid(id), id)
	t := st.Head.Head(d.sid(id))
	seen := st.Here && (t == nil || !t.Deleted) // who saw the tombstone gets it again when somebody recreates it
	w.losing(d, id, func() {
		err := d.Delete(w.ctx(), id)
		if w.expected(d, err); err == nil {
			d.removed[id] = seen
			if note := w.notes[id]; note != nil && note.by == d {
				delete(w.notes, id) // it may come again, as others have it
			}
		}
	})
}

// bury removes a session from the cloud; one of them always stays.
func (w *world) bury(d *gadget, id string) {
	if id == "" || id == "s0" || len(w.buried) > 1 || d.life.offline {
		return
	}
	err := d.Remove(w.ctx(), id)
	if w.expected(d, err); err == nil || !errors.Is(err, sessionstore.ErrNotFound) {
		w.buried[id] = true
	}
}
