package hybrid

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/inuse"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// promises is what the simulation requires beside records: which sessions never
// leave their device, and what nobody changes in the metadata of the others.
type promises struct {
	notes  map[string]*simNote     // by session
	hidden map[string]*ackedRecord // records of sessions that never leave
	local  map[string]*gadget      // sessions that a device keeps for itself, until it forgets that
	owned  map[string]place        // where a device wrote a record with a secret

	scanned map[place]scanned // the files of such records
}

// simNote is a part of a session's metadata that nobody changes after it was
// written.
type simNote struct {
	by   *gadget
	text string // as it stands in the file
}

// denied are the sessions that no device sends.
const denied = "private-"

func (w *world) initPromises() {
	w.promises = promises{notes: map[string]*simNote{}, hidden: map[string]*ackedRecord{}, local: map[string]*gadget{}, owned: map[string]place{}, scanned: map[place]scanned{}}
	w.reader.words = []*regexp.Regexp{regexp.MustCompile(denied)}
	if w.rules != nil { // what is compressed has the beginning alone by chance
		w.reader.words = append(w.reader.words, regexp.MustCompile("ghp_[a-zA-Z0-9]{8}"))
	}
}

// never returns an error when a text holds a word that may not leave.
func (r *simReader) never(text []byte) error {
	for _, word := range r.words {
		if word.Match(text) {
			return fmt.Errorf("it holds %q, which may not leave", word)
		}
	}
	return nil
}

// stays reports whether a session never leaves the device d.
func (w *world) stays(d *gadget, id string) bool {
	return strings.HasPrefix(id, denied) || w.local[id] == d
}

// beginPrivate makes a session that all devices deny, and one that d keeps for
// itself.
func (w *world) beginPrivate(d *gadget) {
	w.begin(d, denied+d.name)
	id := "local-" + d.name
	require.NoError(w.t, d.KeepLocal(w.ctx(), id))
	w.local[id] = d
	w.begin(d, id)
}

// forgot takes note that d lost what it knew, so also what it keeps for itself.
func (w *world) forgot(d *gadget) {
	for id, by := range w.local {
		if by == d {
			delete(w.local, id)
			maps.DeleteFunc(w.hidden, func(_ string, rec *ackedRecord) bool { return rec.session == id })
		}
	}
}

// noteOf keeps in mind what begin wrote of a session's metadata.
func (w *world) noteOf(d *gadget, id string) {
	text := w.file(d, id, "metadata.json")
	from := strings.Index(text, `"odd"`)
	require.Positive(w.t, from, text)
	to := strings.Index(text, `"end"`)
	require.Greater(w.t, to, from)
	w.notes[id] = &simNote{d, text[from:to]}
}

// oddMembers are members of metadata that nobody changes, written in ways of
// which there are others. With rules one of them holds what may not leave.
func (w *world) oddMembers() string {
	return fmt.Sprintf(`"odd": [1.0, 1e3, -0.0, "\u00e9é", {"z": null, "a": true}], "note": "as it was%s", "end": 0`, w.secret())
}

// checkNotes requires metadata that nobody changed to be the same bytes: where it
// was written, and without rules everywhere.
func (w *world) checkNotes() {
	for id, note := range w.notes {
		for _, d := range w.devices {
			if _, removed := d.removed[id]; removed || !d.Exists(id) || w.rules != nil && d != note.by {
				continue
			}
			require.Contains(w.t, w.file(d, id, "metadata.json"), note.text, "%s: metadata of %s, written by %s", d.name, id, note.by.name)
		}
	}
}

// checkPrivacy requires that nothing left its device that was to stay there.
func (w *world) checkPrivacy() {
	cloud, err := w.reader.sessions()
	require.NoError(w.t, err)
	for id, d := range w.local {
		require.NotContains(w.t, cloud, id, "kept by %s", d.name)
	}
	w.reader.mu.Lock()
	defer w.reader.mu.Unlock()
	for sid, ever := range w.reader.ever {
		for mark, rec := range w.hidden {
			require.False(w.t, ever[mark], "%s of %s was sent as %s", mark, rec.session, sid)
		}
	}
}

// hears returns another device that has a session, nil when there is none.
func (w *world) hears(a *gadget, id string) *gadget {
	for _, b := range w.devices {
		if b != a && b.Exists(id) {
			return b
		}
	}
	return nil
}

// shared returns the sessions of a device that the cloud has too.
func (w *world) shared(d *gadget) (ids []string) {
	cloud, err := w.reader.sessions()
	require.NoError(w.t, err)
	return slices.DeleteFunc(w.ids(d), func(id string) bool { return cloud[id] == nil })
}

// What the simulation counts of its promises.
const (
	handedOver = "hand a turn over"
	oneStuck   = "write while one session fails"
)

// pullUnits bounds what it costs to fetch a turn: looks at the session and at the
// catalogue, and the documents that hold the turn, by their sizes.
const pullUnits = 60

// handOver lets a device write a turn and end. What its Sync or Close sent is what
// another device fetches next, at a cost that depends on the turn alone.
func (w *world) handOver() {
	a := w.pick()
	ids := w.shared(a)
	if len(ids) == 0 {
		return
	}
	id := ids[w.rand.IntN(len(ids))]
	b := w.hears(a, id)
	if b == nil {
		return
	}
	w.sum.did(handedOver)
	msgs := w.turn()
	err := a.Append(w.ctx(), id, msgs...)
	require.NoError(w.t, err)
	w.ack(a, id, msgs, err)
	if !a.running { // its Close sends nothing
		_, err := a.Sync(w.ctx(), id)
		require.NoError(w.t, err)
	}
	require.NoError(w.t, a.Close())
	before := b.life.spent()
	pulled, err := b.Pull(w.ctx(), id)
	require.NoError(w.t, err)
	size, have := 0, w.here(b, id)
	for _, m := range msgs {
		line := m.AppendTo(nil)
		size += len(line)
		w.inTime(have[simRecord.FindString(string(line))], "%s closed, and %s does not have its turn of %s: %+v, %s", a.name, b.name, id, pulled, w.standing(b))
	}
	cost, bound := b.life.spent()-before, pullUnits+3*cosmostest.ReadCharge(size)
	require.LessOrEqual(w.t, cost, bound, "%s fetched a turn of %d bytes of %s", b.name, size, id)
	w.open(a)
}

// stuck lets the partition of one session fail: the others are synced as if
// nothing was.
func (w *world) stuck() {
	var a *gadget
	for _, d := range w.devices {
		if d.running && len(w.shared(d)) > 1 {
			a = d
		}
	}
	if a == nil {
		return
	}
	w.sum.did(oneStuck)
	ids := w.shared(a)
	w.rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	pk := segment.SessionPK(a.sid(ids[0]))
	fault := []cosmostest.Fault{
		{Status: http.StatusForbidden, SubStatus: 1014}, {Status: http.StatusRequestEntityTooLarge}, {Status: http.StatusServiceUnavailable},
	}[w.rand.IntN(3)]
	w.place.inject(cosmostest.Data(func(r cosmostest.Request) cosmostest.Fault {
		if strings.Contains(r.Partition, `"`+pk) && r.Op.Writes() {
			return fault
		}
		return cosmostest.Fault{}
	}))
	msgs := map[string]string{}
	for _, id := range ids[:2] {
		turn := w.turn()
		err := a.Append(w.ctx(), id, turn...)
		require.NoError(w.t, err)
		w.ack(a, id, turn, err)
		msgs[id] = simRecord.FindString(string(turn[0].AppendTo(nil)))
	}
	time.Sleep(2 * time.Minute)
	found := w.reader.reachable()
	require.False(w.t, found[msgs[ids[0]]], "the partition of %s is not stuck", ids[0])
	w.inTime(found[msgs[ids[1]]], "%s waits on %s for %s, which fails with %d", ids[1], a.name, ids[0], fault.Status)
	w.place.inject(nil)
}

// inTime counts what came too late, and fails the test.
func (w *world) inTime(ok bool, format string, args ...any) {
	w.t.Helper()
	if !ok {
		w.sum.late.Add(1)
		require.Fail(w.t, "late", fmt.Sprintf(format, args...))
	}
}

// keepPromises lets devices do what they promise in calm.
func (w *world) keepPromises() {
	time.Sleep(2 * inuse.Window) // a file whose writer is not known counts as used when it is first seen: its time is not of this clock
	w.handOver()
	w.stuck()
	w.settle()
	w.apartInCalm()
	w.ownInCalm()
	w.check()
}
