package hybrid

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// settle ends all faults, and lets everybody come into step.
func (w *world) settle() {
	w.srv.Inject(nil)
	for _, d := range w.devices {
		w.endPythons(d)
		d.life.set(false, 0)
		if w.rules == nil && d.rules != nil {
			d.rules = nil
			w.reopen(d, false)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.buried)) {
		w.finishBurial(id)
	}
	w.agreeOnRules()
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
	err := w.devices[0].DeleteRemote(w.ctx(), id)
	if errors.Is(err, ErrShared) || errors.Is(err, sessionstore.ErrNotFound) {
		delete(w.buried, id)
		return
	}
	require.NoError(w.t, err)
}

// agreeOnRules goes on with the sessions that other rules made, on a device
// with those of all: from then on everybody may judge what differs again.
func (w *world) agreeOnRules() {
	cloud, err := w.reader.sessions()
	require.NoError(w.t, err)
	var others []string
	for id, c := range cloud {
		if c != nil && w.rules == nil && c.tip.Redaction != "" {
			others = append(others, id)
		}
	}
	if len(others) == 0 {
		return
	}
	slices.Sort(others)
	d := &gadget{name: "mender", dir: filepath.Join(w.t.TempDir(), "sessions")}
	w.open(d)
	for _, id := range others {
		_, err := d.Pull(w.ctx(), id)
		require.NoError(w.t, err)
		msgs := w.turn()
		err = d.Append(w.ctx(), id, msgs...)
		require.NoError(w.t, err)
		w.ack(d, id, msgs, err)
		_, err = d.Sync(w.ctx(), id)
		require.NoError(w.t, err)
	}
	require.NoError(w.t, d.Close())
}

// exchange lets each device sync once, and reports whether anything moved.
func (w *world) exchange() (moved bool) {
	for _, d := range w.devices {
		before := w.srv.Counters().ByKind["head"].Written
		s, err := d.Sync(w.ctx())
		w.calm(d, err)
		p, err := d.Pull(w.ctx())
		w.calm(d, err)
		standing := w.standing(d)
		if *simVerbose {
			w.t.Log(time.Since(simStart), d.name, "synced", s, "pulled", p, standing)
		}
		moved = moved || strings.Contains(standing, Behind) // who lost what it knew waits until files were quiet
		moved = moved || s.Pushed+p.Pulled+len(s.Conflicts)+len(p.Conflicts) > 0 || w.srv.Counters().ByKind["head"].Written != before
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
		if !errors.Is(e, ErrDeleted) {
			require.NoError(w.t, e, d.name)
		}
	}
}

// check is what must hold when everybody is in step.
func (w *world) check() {
	cloud, err := w.reader.sessions()
	require.NoError(w.t, err)
	for _, d := range w.devices {
		w.checkDevice(d, cloud)
	}
	if *simOrder {
		w.checkOrder(cloud)
	}
	w.checkRecords(cloud)
	require.Empty(w.t, w.reader.problems)
}

// checkDevice compares a device with the cloud, byte by byte.
func (w *world) checkDevice(d *gadget, cloud map[string]*cloudSession) {
	for _, id := range slices.Sorted(maps.Keys(cloud)) {
		c := cloud[id]
		switch {
		case d.removed[id]:
			require.False(w.t, d.Exists(id), "%s: %s came back", d.name, id)
		case d.without(id): // as it may be
		case c == nil: // its files stay, or there are none
		default:
			w.same(d, id, "transcript.jsonl", c.main)
			w.same(d, id, "metadata.json", c.metadata)
			w.checkLogs(d, id, c)
		}
	}
}

// same requires a device's file to be, after its rules, what the cloud has.
func (w *world) same(d *gadget, id, name string, want []byte) {
	require.Equal(w.t, string(want), w.leaving(d, id, name), "%s: %s of %s", d.name, name, id)
}

// leaving returns a device's file as it leaves it.
func (w *world) leaving(d *gadget, id, name string) string {
	text := w.file(d, id, name)
	if d.rules != nil {
		return string(redacted(d.rules, []byte(text)))
	}
	return text
}

// redacted returns text with each line as rules leave it.
func redacted(rules Redactor, text []byte) (out []byte) {
	for line := range bytes.Lines(text) {
		body, ended := bytes.CutSuffix(line, []byte("\n"))
		out = append(out, rules.Line(body)...)
		if ended {
			out = append(out, '\n')
		}
	}
	return out
}

// checkLogs requires a device to have all logs of a session that the cloud has.
func (w *world) checkLogs(d *gadget, id string, c *cloudSession) {
	logs, err := d.Logs(w.ctx(), id)
	require.NoError(w.t, err)
	have := map[string]bool{}
	for _, l := range logs {
		text, err := os.ReadFile(l.Path)
		require.NoError(w.t, err)
		maps.Copy(have, marksIn(text))
	}
	for mark := range c.logged {
		require.True(w.t, have[mark], "%s: %s of the logs of %s is not here", d.name, mark, id)
	}
}

// without reports whether a session was removed on a device and is not there.
func (d *gadget) without(id string) bool {
	_, removed := d.removed[id]
	return removed && !d.Exists(id)
}

func (w *world) file(d *gadget, id, name string) string {
	data, err := os.ReadFile(filepath.Join(d.dir, id, name))
	if !os.IsNotExist(err) {
		require.NoError(w.t, err)
	}
	return string(data)
}

// checkOrder compares the lists of all devices, as far as they have the same
// sessions.
func (w *world) checkOrder(cloud map[string]*cloudSession) {
	list := func(d *gadget) (ids []string) {
		infos, err := d.List(w.ctx(), &sessionstore.ListOptions{All: true})
		require.NoError(w.t, err)
		for _, info := range infos {
			if cloud[info.ID] != nil && !slices.ContainsFunc(w.devices, func(o *gadget) bool { return o.without(info.ID) }) {
				ids = append(ids, info.ID)
			}
		}
		return ids
	}
	first := list(w.devices[0])
	for _, d := range w.devices[1:] {
		if got := list(d); !slices.Equal(first, got) {
			require.Equal(w.t, first, got, "list of %s\n%s", d.name, w.times(first, cloud))
		}
	}
}

// times tells when the directories changed, for a test that fails.
func (w *world) times(ids []string, cloud map[string]*cloudSession) string {
	var out strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&out, "%s: tip %v\n", id, cloud[id].tip.Updated)
		for _, d := range w.devices {
			if fi, err := os.Stat(filepath.Join(d.dir, id)); err == nil {
				fmt.Fprintf(&out, "  %s %v\n", d.name, fi.ModTime().UTC())
			}
		}
	}
	return out.String()
}

// checkRecords looks for every acknowledged record. The cloud has it, but for
// a session that was removed there: then it was once there, or is still where
// it was written.
func (w *world) checkRecords(cloud map[string]*cloudSession) {
	found := w.reader.reachable()
	var lost []string
	for mark, rec := range w.acked {
		if found[mark] || w.withdrawn[mark] {
			continue
		}
		if c, known := cloud[rec.session]; known && c == nil && (w.reader.once(rec.by.sid(rec.session), mark) || w.anywhere(rec.by, mark)) {
			continue
		}
		lost = append(lost, fmt.Sprintf("%s in %s of %s on %s; in the cloud once: %v; session in the cloud: %v; on the device: %v",
			mark, rec.kind, rec.session, rec.by.name, w.reader.once(rec.by.sid(rec.session), mark), cloud[rec.session] != nil, w.anywhere(rec.by, mark)))
	}
	w.sum.lost.Add(int64(len(lost)))
	require.Empty(w.t, lost, "lost")
}

func (d *gadget) sid(id string) string { return d.engine.sid(id) }

// anywhere reports whether a record is in some file of a device.
func (w *world) anywhere(d *gadget, mark string) bool {
	return w.all(d)[mark]
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
		require.True(w.t, found[mark], "%s was rewound and is gone", mark)
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
		branches, err := d.Branches(w.ctx(), id)
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
