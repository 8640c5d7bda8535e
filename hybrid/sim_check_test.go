package hybrid

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

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
	w.checkBranches(cloud)
	w.checkNotes()
	w.checkPrivacy()
	w.checkOwn("settling")
	require.Empty(testenv.Lost(w.t), w.reader.found())
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
			w.same(d, id, "config.md", c.config)
			w.checkLogs(d, id, c)
		}
	}
}

// same requires a device's file to be, after its rules, what the cloud has.
func (w *world) same(d *gadget, id, name string, want []byte) {
	require.Equal(w.t, unmarked(string(want)), unmarked(w.leaving(d, id, name)), "%s: %s of %s", d.name, name, id)
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
		require.True(testenv.Lost(w.t), have[mark], "%s: %s of the logs of %s is not here", d.name, mark, id)
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
// sessions. Sessions of one time stand in the order of their directories, which
// file systems choose.
func (w *world) checkOrder(cloud map[string]*cloudSession) {
	list := func(d *gadget) (ids []string) {
		infos, err := d.List(w.ctx(), &sessionstore.ListOptions{All: true})
		require.NoError(w.t, err)
		for _, info := range infos {
			if cloud[info.ID] != nil && !slices.ContainsFunc(w.devices, func(o *gadget) bool { return o.without(info.ID) }) {
				ids = append(ids, info.ID)
				for n := len(ids) - 1; n > 0 && ids[n] < ids[n-1] && cloud[ids[n]].tip.Updated.Equal(cloud[ids[n-1]].tip.Updated); n-- {
					ids[n], ids[n-1] = ids[n-1], ids[n]
				}
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

// checkTimes requires all directories of sessions to have times of the bubble. By
// those sessions are put in order, and the kernel's differ from run to run.
func (w *world) checkTimes(step string) {
	for _, d := range w.devices {
		for _, id := range w.ids(d) {
			fi, err := os.Stat(filepath.Join(d.dir, id))
			require.NoError(w.t, err)
			require.False(w.t, fi.ModTime().Before(simStart.Add(-2*time.Hour)), "%s: %s has the time %v after %q", d.name, id, fi.ModTime(), step)
		}
	}
}

// checkRecords looks for every acknowledged record. The cloud has it, but for
// a session that was removed there: then it was once there, or is still where
// it was written, as it is of a session that is held back.
func (w *world) checkRecords(cloud map[string]*cloudSession) {
	w.giveUpFormer()
	found := w.reader.reachable()
	var lost []string
	for mark, rec := range w.acked {
		if found[mark] || w.withdrawn[mark] || w.copied[mark] && len(w.buried) > 0 || w.wentWith(cloud, mark, rec) {
			continue
		}
		if c, known := cloud[rec.session]; known && c == nil && (w.reader.once(rec.by.sid(rec.session), mark) || w.anywhere(rec.by, mark)) {
			continue
		}
		if w.orphan(rec.by, rec.session, cloud) && w.anywhere(rec.by, mark) {
			continue
		}
		lost = append(lost, fmt.Sprintf("%s in %s of %s on %s; in the cloud once: %v; session in the cloud: %v; on the device: %v",
			mark, rec.kind, rec.session, rec.by.name, w.reader.once(rec.by.sid(rec.session), mark), cloud[rec.session] != nil, w.anywhere(rec.by, mark)))
	}
	w.sum.lost.Add(int64(len(lost)))
	require.Empty(testenv.Lost(w.t), lost, "lost")
}

func (d *gadget) sid(id string) string { return d.engine.SID(id) }

// anywhere reports whether a record is in some file of a device.
func (w *world) anywhere(d *gadget, mark string) bool {
	return w.all(d)[mark]
}
