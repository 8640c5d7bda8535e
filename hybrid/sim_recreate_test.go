package hybrid

import (
	"maps"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/testenv"
)

// recreate brings a session back that somebody removed from the cloud, or tried to, as a
// device has it; or asks for one that is not removed.
func (w *world) recreate(d *gadget, id string) {
	for _, gone := range slices.Sorted(maps.Keys(w.buried)) {
		for _, o := range w.devices {
			if o.Exists(gone) && !o.running {
				d, id = o, gone
			}
		}
	}
	if id == "" || d.running { // see sync
		return
	}
	here := w.here(d, id)
	err := d.Recreate(w.ctx(), id)
	if w.stays(d, id) {
		require.ErrorIs(w.t, err, ErrLocal)
		return
	}
	if w.expected(d, err); err != nil {
		return
	}
	found := w.reader.reachable()
	for mark := range here {
		require.True(testenv.Lost(w.t), found[mark] || !w.here(d, id)[mark], "a Recreate by %s left %s of %s behind", d.name, mark, id)
	}
	if w.buried[id] {
		delete(w.buried, id)
		w.recreated[id] = true
		w.sum.did("recreated")
	}
}

// wentWith reports whether a record was in the cloud when its session was removed there, and
// stands on no device in a session that may bring it back: one that the cloud has not removed.
func (w *world) wentWith(cloud map[string]*cloudSession, mark string, rec *ackedRecord) bool {
	stands := func(d *gadget) bool {
		return slices.ContainsFunc(w.ids(d), func(id string) bool {
			c, known := cloud[id]
			return (c != nil || !known) && w.here(d, id)[mark]
		})
	}
	return w.recreated[rec.session] && w.reader.once(rec.by.sid(rec.session), mark) && !slices.ContainsFunc(w.devices, stands)
}
