package hybrid

import (
	"maps"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// recreate brings a session back that somebody removed from the cloud, or tried to, as a
// device has it; or sends one anew that the cloud has, mostly under later rules, and
// sometimes what belongs to it. Only former heads may go by that.
func (w *world) recreate(d *gadget, id string) {
	for _, gone := range slices.Sorted(maps.Keys(w.buried)) {
		for _, o := range w.devices {
			if o.Exists(gone) && !o.running && w.rand.IntN(2) == 0 {
				d, id = o, gone
			}
		}
	}
	if id == "" || d.running { // see sync
		return
	}
	ids := []string{id}
	if w.rand.IntN(4) == 0 && !w.stays(d, id) && !w.buried[id] {
		listed, err := d.Remote(w.ctx())
		if w.expected(d, err); err != nil {
			return
		}
		ids = slices.DeleteFunc(familyOf(listed, ids), func(id string) bool { return w.stays(d, id) || w.buried[id] || d.removed[id] })
	}
	if r, ok := d.rules.(*simRules); ok && w.rand.IntN(3) > 0 {
		r.later.Add(1)
	}
	for _, id := range ids {
		w.recreateOne(d, id)
	}
}

func (w *world) recreateOne(d *gadget, id string) {
	cloud, err := w.reader.sessions()
	require.NoError(w.t, err)
	was, known := cloud[id]
	if was != nil && !w.stays(d, id) { // a rewind that waits makes the rest a former head, which goes
		_, err = d.Sync(w.ctx(), id)
		if w.expected(d, err); err != nil {
			return
		}
		cloud, err = w.reader.sessions()
		require.NoError(w.t, err)
		was, known = cloud[id]
	}
	here := w.here(d, id)
	err = d.Recreate(w.ctx(), id)
	if w.stays(d, id) {
		require.ErrorIs(w.t, err, ErrLocal)
		return
	}
	w.expected(d, err)
	if was != nil {
		w.begun[id] = append(w.begun[id], was) // where it failed, a later sync may finish it
		w.giveUpFormer()
	}
	if err != nil {
		return
	}
	found := w.reader.reachable()
	for mark := range here {
		require.True(testenv.Lost(w.t), found[mark] || !w.here(d, id)[mark], "a Recreate by %s left %s of %s behind", d.name, mark, id)
	}
	switch {
	case was != nil:
		for mark := range was.firm {
			require.True(testenv.Lost(w.t), found[mark], "a Recreate by %s lost %s of %s", d.name, mark, id)
		}
		w.sum.did("recreated alive")
	case known: // somebody removed it, or a device that began to recreate it has forgotten that
		delete(w.buried, id)
		w.recreated[id] = true
		w.sum.did("recreated")
	}
}

// giveUpFormer takes note of records that only former heads and branches of a session had, once
// these are gone: by a Recreate, or by the sync that finished one. What a branch had is in the
// session that keeps it, as long as nobody removes that.
func (w *world) giveUpFormer() {
	cloud, err := w.reader.sessions()
	require.NoError(w.t, err)
	found := w.reader.reachable()
	for id, all := range w.begun {
		now := cloud[id]
		for _, was := range all {
			if now != nil && now.tip.Born == was.tip.Born {
				continue
			}
			for mark := range was.records {
				switch {
				case !was.firm[mark] && !found[mark]:
					w.withdrawn[mark] = true
				case now == nil || !now.records[mark]:
					w.copied[mark] = true
				}
			}
		}
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
