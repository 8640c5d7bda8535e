package syncer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/gc"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/jitter"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/privacy"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncplan"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// apply does the planned action: first in the cloud, then on the files here.
func (v *work) apply(ctx context.Context, a syncplan.Action) error {
	switch {
	case a.Kind == syncplan.Blocked:
		return privacy.ErrRedaction
	case a.Kind == syncplan.Deleted:
		return v.deleted(a)
	case !v.local.present && a.Kind == syncplan.Idle:
		return v.absent(a)
	case !v.local.present:
		v.out.State = UpToDate
		return v.restore(ctx)
	}
	p, err := v.build(ctx, a)
	if err != nil {
		return err
	}
	if p.changed {
		if err := v.commit(ctx, p); err != nil {
			return err
		}
	}
	if err := v.applyLocal(ctx, a, p); err != nil {
		return err
	}
	if v.fetches && v.Mode != Resume && v.cloud.head != nil {
		return v.fetchLogs(ctx, nil)
	}
	return nil
}

// deleted sets the result for a session that is no longer in the cloud.
func (v *work) deleted(a syncplan.Action) error {
	v.out.State = Removed
	if a.Why == syncplan.AddedSince {
		return errors.Join(v.remember(), fmt.Errorf("%w; it has lines that the remote never had", ErrRemoved))
	}
	return nil
}

// absent sets the result for a session that is not here.
func (v *work) absent(a syncplan.Action) error {
	v.out.State = Absent
	switch {
	case a.Why == syncplan.DeletedThere:
		v.out.State = Removed
		if v.recreates {
			return limits.Errorf(sessionstore.ErrNotFound, "the session is not on this device, and was removed from the remote")
		}
		if v.Named {
			return ErrRemoved
		}
	case a.Why == syncplan.Nowhere && v.Named:
		return limits.Errorf(sessionstore.ErrNotFound, "neither this device nor the remote has the session")
	}
	return nil
}

// Foreign returns the reason why a session that only the remote has stays there, nil if it may
// come: its id would become the name of a directory here, and an argument of commands. The error Is
// [sessionstore.ErrInvalidID].
func Foreign(id string) error {
	reason := sessiondir.Foreign(id)
	if reason == "" {
		return nil
	}
	return limits.Errorf(sessionstore.ErrInvalidID, "its id may not come from a remote, since %s: on a device that has the session fork it, or remove it from the remote", reason)
}

// applyLocal changes the files here, after the push.
func (v *work) applyLocal(ctx context.Context, a syncplan.Action, p *draft) error {
	v.out.State = UpToDate
	switch a.Kind {
	case syncplan.Create, syncplan.Push, syncplan.Rewrite:
		if v.fetches {
			v.out.State = Pending
		} else if a.Kind == syncplan.Rewrite {
			v.out.Did = Rewritten
		}
	case syncplan.Behind:
		if err := v.wait(v.why); err != nil {
			return err
		}
		if a.Reason == syncplan.Diverged || a.Reason == syncplan.RemoteRewound { // the branch is stored already
			v.out.Did = Diverged
		}
		return nil
	case syncplan.Record:
		v.out.State, v.out.Why = Behind, v.why
		v.out.Did, v.out.Conflict = Diverged, true
		return nil
	case syncplan.Pull:
		return v.transcript(ctx)
	case syncplan.Diverge:
		return v.diverge(ctx, p)
	}
	return v.takeFiles(ctx)
}

// takeFiles writes the small files that are newer in the cloud.
func (v *work) takeFiles(ctx context.Context) error {
	if !v.local.takes() {
		return v.setTime(ctx)
	}
	if why := v.local.busy(); why != nil {
		return v.wait(why)
	}
	return v.install(ctx, nil)
}

func (l *local) takes() bool {
	for _, f := range l.files {
		if f.take != nil {
			return true
		}
	}
	return false
}

// diverge keeps this device's line as a session of its own where that is asked for, and
// continues with the cloud's line.
func (v *work) diverge(ctx context.Context, p *draft) error {
	keptAs := ""
	if p.copy != nil {
		if err := v.local.storeCopy(ctx, p.copy, p.common); err != nil {
			return fmt.Errorf("keep this device's line: %w", err)
		}
		keptAs = p.copy.id
	}
	if err := v.transcript(ctx); err != nil {
		return err
	}
	v.out.Did, v.out.Conflict, v.out.KeptAs = Diverged, true, keptAs
	return nil
}

// wait leaves the files as they are, for the reason why.
func (v *work) wait(why error) error {
	v.out.State, v.out.Why = Behind, why
	return nil
}

// download is a transcript that was fetched: the lines behind a place in the file here,
// checked, in a file of the bookkeeping.
type download struct {
	from  segment.Mark
	file  string
	to    segment.Point
	known *track.Followed // the forms of all lines, once it is here
}

// fetchMain fetches the lines that the transcript here lacks. It holds no lock while it
// fetches.
func (v *work) fetchMain(ctx context.Context) (*download, error) {
	to := v.cloud.head.Transcript.Point()
	a := &download{file: replica.DownloadFile(v.sid, v.Random.Name(4)), to: to}
	err := patient(ctx, func() error {
		from, infos, err := v.meeting(ctx)
		if err != nil {
			return err
		}
		a.from = from
		own, err := v.local.ownLines(ctx, from)
		if err != nil {
			return track.Gone(err)
		}
		return v.States.FillLines(a.file, v.local.arriving(a, own, v.cloud.link.Lines(ctx, segment.Transcript, infos, from.Point(), to, nil)))
	})
	if err != nil {
		err = errors.Join(err, v.States.Remove(a.file))
	}
	return a, err
}

// arriving passes on the lines that a download fetches. Lines that this device sent come
// as they are here, see [ownLines]. All others are written in the form in which they were
// sent, whatever today's rules would make of them.
func (l *local) arriving(a *download, own *ownLines, lines iter.Seq2[[]byte, error]) iter.Seq2[[]byte, error] {
	h := &track.Chain{Source: l.main.Source, Followed: track.Followed{Forms: track.Before(l.main.Forms, a.from.N), Mixed: l.main.Mixed}}
	return func(yield func([]byte, error) bool) {
		n := a.from.N
		for sent, err := range lines {
			line := sent
			if err == nil {
				line = own.take(sent)
				h.Add(n, line, func(int64, []byte) ([]byte, bool) { return sent, true })
				n++
			}
			if !yield(line, err) {
				return
			}
		}
		a.known = h.FormsOf()
	}
}

// meeting returns the place from which the lines here and in the cloud differ, and the
// segments behind it.
func (s *work) meeting(ctx context.Context) (segment.Mark, []segment.Info, error) {
	to, end := s.cloud.head.Transcript.Point(), s.local.main.End()
	if to.N >= end.N && s.cloud.infos == nil {
		infos, err := s.cloud.link.Segments(ctx, s.cloud.head, segment.Transcript, end.N)
		if err != nil {
			return segment.Mark{}, nil, err
		}
		_, err = segment.Tile(segment.Transcript, infos, end.Point(), to)
		if err == nil || errors.Is(err, segment.ErrGap) && end.N == 0 {
			return end, infos, remoteread.Damaged(err)
		}
	}
	s.cloud.infos = nil
	infos, err := s.cloud.listed(ctx)
	if err != nil {
		return segment.Mark{}, nil, err
	}
	n, err := shared(ctx, s.local.main, infos, to)
	if err != nil {
		return segment.Mark{}, nil, err
	}
	from, ok, err := s.local.main.Mark(ctx, n)
	if err == nil && !ok {
		err = track.ErrMoved
	}
	return from, infos, err
}

// gapTries is how often a missing segment is looked for again: a replica that lags behind
// may not have it yet.
const (
	gapTries = 3
	gapWait  = 300 * time.Millisecond
)

// patient runs do again while it meets a gap.
func patient(ctx context.Context, do func() error) error {
	for try := 1; ; try++ {
		err := do()
		if !errors.Is(err, segment.ErrGap) || try > gapTries {
			return err
		}
		if err := jitter.Pause(ctx, gapWait*time.Duration(try), nil); err != nil {
			return err
		}
	}
}

// catalogueEvery is the least time between two writes of a session's entry.
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

// writeEntry writes the session's entry for the head t. A session is entered before its
// first head is stored: other devices find it then, also when this device never comes
// back. An entry without a head means nothing.
func (c *cloud) writeEntry(ctx context.Context, t *head.Head) error {
	entry := t.Catalogue(c.UID(), t.Name())
	last := c.st.Cat.Version
	if listed, _ := c.Table.Entry(c.sid); listed.Version != "" && !listed.Deleted && listed.Revision > c.st.Cat.Revision && listed.Revision < t.Revision {
		last = remote.Version(listed.Version)
	}
	version, err := c.link.WriteEntry(ctx, &entry, last)
	if err != nil {
		return fmt.Errorf("write catalogue: %w", err)
	}
	c.st.Cat = replica.KnownEntry{Revision: t.Revision, Version: version, At: time.Now()}
	return nil
}

// takeEntry takes over the version of the entry that another device wrote for the head t, which
// is here now: the entry for this device's next head replaces that one. Where no list had it,
// it is read for a program that goes on with the session, and where devices take turns.
func (v *work) takeEntry(ctx context.Context, t *head.Head) {
	listed, _ := v.Table.Entry(v.sid)
	if !v.out.Pulled || t.Writer.Device == v.Device.ID || listed.Version != "" && listed.Revision >= t.Revision {
		return
	}
	if v.st.Cat.Version = ""; v.Mode != Resume && !v.turns {
		return
	}
	if entry, err := v.cloud.link.EntryOf(ctx, v.UID(), v.sid); err == nil && entry != nil && !entry.Deleted { // else it is read when it is written
		v.st.Cat.Revision, v.st.Cat.Version = entry.Revision, entry.Version
	}
}

// entryIsOld reports whether the head t, which may be nil, is of this device and
// later than the last entry that it wrote.
func (s *session) entryIsOld(t *head.Head) bool {
	return t != nil && t.Writer.Device == s.Device.ID && t.Revision > s.st.Cat.Revision
}

// checkpoint records the state of the session, if it needs no scan from now on while its
// files do not change.
func (v *work) checkpoint() {
	s := replica.Session{ID: v.id, Stat: v.stat}
	rules := v.States.Rules()
	switch {
	case v.stat.Dir == 0 && !v.local.present && v.out.Err == nil:
		s = replica.Session{ID: v.id, State: replica.Gone}
		if _, known := v.Table.Session(v.id); !known {
			return
		}
	case v.out.Err == nil && v.out.State == Local && !v.verdict.Inherited && !v.verdict.Remembered && !rules.Keeps(v.id) && rules.Err() == nil:
		s.State = replica.Private
	case v.out.Err == nil && v.agrees(&s):
	default:
		v.Table.Reopen(v.id)
		return
	}
	v.Table.Put(s)
}

// agrees reports whether both sides have the same, and other devices can know it. It
// fills in the known numbers of the session.
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

// Preview returns the head of a session, and the messages of the last segment of its
// transcript. With an error that Is [remoteread.ErrDamaged] it returns the head alone.
func (e *Syncer) Preview(ctx context.Context, id string) (t *head.Head, last []sessionstore.Message, err error) {
	if err := e.identityOf(id).Check(); err != nil {
		return nil, nil, err
	}
	c := e.session(id, Options{Mode: Asked, Named: true}).cloud()
	err = patient(ctx, func() error {
		t, last, err = c.preview(ctx)
		return err
	})
	return t, last, err
}

func (c *cloud) preview(ctx context.Context) (t *head.Head, last []sessionstore.Message, err error) {
	t, _, err = c.link.Head(ctx, c.sid, remoteread.Known{}) // the session token makes an older one impossible
	switch {
	case err != nil:
		return nil, nil, err
	case t == nil:
		return nil, nil, gc.ErrAbsent
	case t.Deleted:
		return nil, nil, ErrRemoved
	}
	for line, err := range c.link.LastLines(ctx, t) {
		if err != nil {
			return t, nil, err
		}
		if m, err := sessionstore.ParseMessage(line); err == nil { // other lines are no messages
			last = append(last, m)
		}
	}
	return t, last, nil
}
