package syncer

import (
	"context"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
)

// catalogueEvery is how often a session's entry is written at most.
const catalogueEvery = 30 * time.Second

// catalogue does what [cloud.catalogue] does, unless an entry was written a short time
// ago: then the session is synced again later.
func (v *work) catalogue(ctx context.Context) error {
	if v.Mode == Resume || !v.entryIsOld(v.cloud.head) {
		return nil
	}
	if due := v.st.Cat.At.Add(catalogueEvery); time.Now().Before(due) && v.Mode != Closing && !v.asked() {
		v.out.Later = due
		return nil
	}
	return v.cloud.catalogue(ctx)
}

// catalogue brings the session's entry up to date with a head that this device wrote.
func (c *cloud) catalogue(ctx context.Context) error {
	if !c.entryIsOld(c.head) {
		return nil
	}
	if err := c.writeEntry(ctx, c.head); err != nil {
		return err
	}
	return c.States.Save(c.sid, c.st)
}

// writeEntry writes the session's entry for the head t. A session is entered before
// its first head is there: other devices find it then, also when this one never
// comes back. An entry without a head means nothing.
func (c *cloud) writeEntry(ctx context.Context, t *head.Head) error {
	entry := t.Catalogue(c.UID(), t.Name())
	version, err := c.link.WriteEntry(ctx, &entry, c.st.Cat.Version)
	if err != nil {
		return fmt.Errorf("write catalogue: %w", err)
	}
	c.st.Cat = replica.KnownEntry{Revision: t.Revision, Version: version, At: time.Now()}
	return nil
}

// entryIsOld reports whether the head t, which may be nil, is of this device and
// later than the last entry that it wrote.
func (s *session) entryIsOld(t *head.Head) bool {
	return t != nil && t.Writer.Device == s.Device.ID && t.Revision > s.st.Cat.Revision
}

// checkpoint notes how the session stands, if it needs no scan from now on while
// its files do not change.
func (v *work) checkpoint() {
	s := replica.Session{ID: v.id, Stat: v.stat}
	rules := v.States.Rules()
	switch {
	case v.stat.Dir == 0 && !v.local.present && v.out.Err == nil:
		s = replica.Session{ID: v.id, State: replica.Gone}
		if _, known := v.Table.Session(v.id); !known {
			return
		}
	case v.out.Err == nil && v.out.State == Local && !v.verdict.Inherited && !rules.Keeps(v.id) && rules.Err() == nil:
		s.State = replica.Denied
	case v.out.Err == nil && v.agrees(&s):
	default:
		v.Table.Reopen(v.id)
		return
	}
	v.Table.Put(s)
}

// agrees reports whether both sides have the same, and other devices can know it.
// It fills in what there is to know of the session.
func (v *work) agrees(s *replica.Session) bool {
	if v.local.main == nil || v.local.doubt != nil || len(v.cloud.lacking) > 0 || !v.out.Later.IsZero() || !v.local.settled() {
		return false
	}
	t, err := head.Decode(v.st.Head.Doc, v.sid)
	if err != nil || v.entryIsOld(t) {
		return false
	}
	s.Revision, s.N, s.Remote, s.Logs = t.Revision, v.local.main.End().N, t.Transcript.N, v.st.HasLogs(t, v.Device.ID) && !v.st.Lacks
	if t.Deleted {
		s.State = replica.Deleted
	}
	return true
}
