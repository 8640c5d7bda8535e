package syncer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncplan"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/commit"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// buildRewrite stores the lines from the first differing one on, and keeps the former
// head as a history.
func (v *work) buildRewrite(ctx context.Context, a syncplan.Action, p *draft) error {
	if err := v.local.checkSound(ctx); err != nil {
		return err
	}
	common, err := v.common(ctx)
	if err != nil {
		return err
	}
	former := head.History{Extent: v.cloud.head.Transcript, Common: common, Why: head.WhyRewrite, Device: v.Device.ID}
	if a.KeepRemote {
		former.Why, former.Device = head.WhyBranch, v.cloud.head.Writer.Device
	}
	if err := v.leaveHistory(ctx, p, former); err != nil {
		return err
	}
	if err := v.replace(ctx, a.Replaces, p); err != nil {
		return err
	}
	return v.buildFrom(ctx, common, p)
}

// buildBranch stores this device's line as a branch.
func (v *work) buildBranch(ctx context.Context, a syncplan.Action, p *draft) (err error) {
	if p.common, err = v.common(ctx); err != nil {
		return err
	}
	b := head.History{Common: p.common, Why: head.WhyBranch, Device: v.Device.ID}
	b.Extent = head.ExtentOf(v.local.main.End()).Ruled(v.cloud.head.RulesOf(segment.Transcript), p.common, v.redaction())
	if a.Fork {
		if p.copy, err = v.local.conflictCopy(ctx, p.common); err != nil {
			return err
		}
		b.KeptAs = p.copy.id
	}
	if a.Stored {
		return nil
	}
	if err := v.storeFrom(ctx, p.common, p.uploads); err != nil {
		return err
	}
	p.changed = true
	return errors.Join(v.leaveHistory(ctx, p, b), v.replace(ctx, a.Replaces, p))
}

// leaveHistory makes the draft's head name a history, and stores its document.
func (v *work) leaveHistory(ctx context.Context, p *draft, h head.History) error {
	h.ID, h.Stream, h.At = segment.HistoryID(v.sid, v.Random.Name(8)), cmp.Or(h.Stream, segment.Transcript), v.cloud.serverTime()
	doc, err := h.Encode(v.sid)
	if err != nil {
		return err
	}
	p.next.Histories.Add(&h)
	return p.uploads.add(ctx, doc)
}

// maxReplaced is the largest number of histories that a change removes, so that it fits
// into one request.
const maxReplaced = 50

// replace takes some histories out of the draft's head, and removes their documents with
// the change of the head. More than [maxReplaced] stay, until the next change.
func (v *work) replace(ctx context.Context, ids []string, p *draft) error {
	if len(ids) == 0 {
		return nil
	}
	known, err := v.cloud.histories(ctx)
	for i := range known {
		if h := &known[i]; slices.Contains(ids[:min(len(ids), maxReplaced)], h.ID) {
			p.next.Histories.Drop(h)
			p.uploads.remove = append(p.uploads.remove, h.ID)
		}
	}
	return err
}

// checkSound refuses to replace the history in the cloud by a transcript that the store
// itself would not accept as it is on the disk, such as after a power cut.
func (l *local) checkSound(ctx context.Context) error {
	if l.doubt != nil {
		return l.doubt
	}
	s, err := l.Store.Load(ctx, l.id)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDeferred, err)
	}
	if s.Recovered != nil {
		return fmt.Errorf("%w: the transcript had to be recovered; the next write mends it", ErrDeferred)
	}
	if !l.main.There && l.st.Base != nil && l.st.Base.N > 0 {
		return fmt.Errorf("%w: the transcript is gone", ErrDeferred)
	}
	return nil
}

// listFormer lists the histories that are not the main line, the latest first. Of several
// with the same end it lists the latest.
func (c *cloud) listFormer(ctx context.Context) (all []head.History, err error) {
	known, err := c.histories(ctx)
	slices.SortFunc(known, func(a, b head.History) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.ID, b.ID)) })
	seen := map[segment.Point]bool{c.head.Transcript.Point(): true}
	for _, h := range known {
		if p := h.Extent.Point(); h.Stream == segment.Transcript && !seen[p] {
			seen[p] = true
			all = append(all, h)
		}
	}
	return all, err
}

func (e *Syncer) restoreOnce(ctx context.Context, id string, to head.Extent) error {
	v, leave, err := e.examine(ctx, id)
	if err != nil {
		return err
	}
	defer leave()
	if v.cloud.head.Deleted {
		return ErrRemoved
	}
	if err := cmp.Or(v.mayStore(ctx), v.mayCome()); err != nil {
		return err
	}
	if v.local.present && v.local.main.Point() != v.cloud.head.Transcript.Point() && v.cloud.head.Transcript.Point() != to.Point() {
		return fmt.Errorf("%w: the session here is not in step", ErrDeferred)
	}
	if err := v.switchTo(ctx, to); err != nil {
		return err
	}
	if err := v.cloud.catalogue(ctx); err != nil {
		return err
	}
	if !v.local.present {
		err = v.restore(ctx)
	} else if v.local.main.Point() != v.cloud.head.Transcript.Point() {
		err = v.transcript(ctx)
	}
	return errors.Join(err, v.remember())
}

// switchTo makes the head lead to a history, if it does not yet.
func (v *work) switchTo(ctx context.Context, to head.Extent) error {
	if v.cloud.head.Transcript.Point() == to.Point() {
		return nil
	}
	known, err := v.cloud.listFormer(ctx)
	if err != nil && !errors.Is(err, remoteread.ErrDamaged) {
		return err
	}
	if !slices.ContainsFunc(known, func(k head.History) bool { return k.Extent.Point() == to.Point() }) {
		return limits.Errorf(sessionstore.ErrNotFound, "the remote has no such history")
	}
	p := &draft{next: v.nextHead(), uploads: v.cloud.uploader()}
	if err := v.leaveHistory(ctx, p, head.History{Extent: v.cloud.head.Transcript, Why: head.WhyRestore, Device: v.Device.ID}); err != nil {
		return err
	}
	p.next.Transcript = to
	p.next.Updated = v.Core.Now()
	return v.commit(ctx, p)
}

// Histories returns the histories of a session that are not its main line, the latest
// first. When the list of them is damaged the error Is [remoteread.ErrDamaged], and the
// others are returned.
func (e *Syncer) Histories(ctx context.Context, id string) (all []head.History, err error) {
	return all, e.again(ctx, func() error {
		v, leave, err := e.examine(ctx, id)
		if err != nil {
			return err
		}
		defer leave()
		all, err = v.cloud.listFormer(ctx)
		return err
	})
}

// Restore makes a history the main line. The error Is [remoteread.ErrContended] when other
// devices changed the session all the time.
func (e *Syncer) Restore(ctx context.Context, id string, to head.Extent) error {
	return e.again(ctx, func() error { return e.restoreOnce(ctx, id, to) })
}

// conflictCopy returns the session that keeps the line here. A divergence has only one: a
// sync that was interrupted may have made it, and the program wrote on.
func (l *local) conflictCopy(ctx context.Context, common int64) (*conflictCopy, error) {
	if n := len(l.st.Kept); n > 0 {
		k, err := l.madeCopy(ctx, l.st.Kept[n-1], common)
		if k != nil || err != nil {
			return k, err
		}
	}
	return &conflictCopy{id: l.copyID(l.main.Point())}, nil
}

// madeCopy returns the session id as a conflict copy, if it keeps the beginning of the
// line here, behind the common lines, and nothing else; nil if it does not, or if a
// program uses it.
func (l *local) madeCopy(ctx context.Context, id string, common int64) (*conflictCopy, error) {
	if !l.Core.Has(id) || !l.Core.Free(id) {
		return nil, nil
	}
	if l.Programs != nil {
		if use, err := l.Programs.Look(id); err != nil || use.Here || !use.Others.IsZero() {
			return nil, err
		}
	}
	from := l.transcript()
	from.ID = id
	was, err := from.Scan(ctx, l.main.FormsOf(), false)
	if err != nil {
		return nil, track.Gone(err)
	}
	if was.Torn || was.End().N <= common {
		return nil, nil
	}
	if on, err := l.main.Has(ctx, was.Point()); !on || err != nil {
		return nil, err
	}
	return &conflictCopy{id, was}, nil
}

// copyID is the id of a new session that keeps a line here: the same for the same line,
// so that a crash leaves no second one.
func (s *session) copyID(p segment.Point) string {
	b := sha256.Sum256([]byte("fork\x00" + s.sid + "\x00" + p.Hash.String()))
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// storeCopy makes the transcript here a session of its own, laid out as a fork: it shares
// the first common records with the line that the session continues. A session that has
// the beginning grows.
func (l *local) storeCopy(ctx context.Context, k *conflictCopy, common int64) (err error) {
	switch {
	case k.was != nil && k.was.Point() == l.main.Point():
	case k.was != nil:
		err = l.growCopy(ctx, k)
	case slices.Contains(l.st.Kept, k.id) && !l.Core.Has(k.id):
		return nil // it was kept, and removed since
	default:
		err = l.makeCopy(ctx, k.id, common)
	}
	if err != nil {
		return err
	}
	if err := l.Core.SyncFiles(ctx, k.id, sessiondir.Transcript, sessiondir.Metadata); err != nil {
		return track.Gone(err)
	}
	if !slices.Contains(l.st.Kept, k.id) {
		l.st.Kept = append(l.st.Kept, k.id)
	}
	l.Dirty.Add(k.id, replica.Written)
	return l.States.Save(l.sid, l.st)
}

func (l *local) makeCopy(ctx context.Context, id string, common int64) error {
	at, ok, err := l.main.Mark(ctx, common)
	if err != nil || !ok {
		return errors.Join(track.ErrMoved, err)
	}
	md, err := l.forkMetadata(ctx, id, at.Turn)
	if err != nil {
		return err
	}
	err = l.change(ctx, l.Core.Make, id, func(tx core.Tx) error {
		err := tx.Dir().Replace(sessiondir.Transcript, l.Core.Syncs(), vfs.Now(time.Time{}), l.writeMain(ctx))
		if err != nil {
			return err
		}
		tx.Renamed(sessiondir.Transcript)
		return tx.SetMetadata(md)
	})
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// growCopy extends the transcript of the session that keeps the beginning of the line to
// the whole line.
func (l *local) growCopy(ctx context.Context, k *conflictCopy) error {
	md, err := l.Store.Metadata(ctx, k.id)
	if err != nil {
		return err
	}
	if err := errors.Join(md.Set("turn_count", l.main.End().Turn), md.Set("conflict_of", l.id)); err != nil {
		return err
	}
	err = l.change(ctx, l.Core.Change, k.id, func(tx core.Tx) error {
		stamp, err := tx.Dir().Stat(sessiondir.Transcript)
		if err != nil || !stamp.SameContent(k.was.File) {
			return errors.Join(track.ErrMoved, err)
		}
		err = tx.Replace(sessiondir.Transcript, commit.Replacement{
			Was: stamp, Time: vfs.Now(stamp.Mtime), Write: l.writeMain(ctx), Rotate: func() (bool, error) { return true, nil },
		})
		if err != nil {
			return err
		}
		return tx.SetMetadata(md)
	})
	if errors.Is(err, sessionstore.ErrConflict) || errors.Is(err, sessionstore.ErrNotFound) {
		return track.ErrMoved
	}
	return err
}

// writeMain returns a function that writes the transcript here.
func (l *local) writeMain(ctx context.Context) func(io.Writer) error {
	return func(out io.Writer) error { return replica.WriteLines(out, l.main.RawLines(ctx, 0)) }
}

// forkMetadata returns the metadata of a fork, with some members of the session's own.
func (l *local) forkMetadata(ctx context.Context, id string, turn int) (sessionstore.Metadata, error) {
	from, err := l.Store.Metadata(ctx, l.id)
	if err != nil {
		from = sessionstore.Metadata{} // damaged or missing: the lineage counts
	}
	now := pytime.Format(l.Core.Now().UTC().Truncate(time.Microsecond))
	var md sessionstore.Metadata
	set := func(name string, value any) {
		if err := md.Set(name, value); err != nil {
			l.Log.Warn("member of a fork's metadata left out", "session", id, "err", err)
		}
	}
	set("session_id", id)
	set("parent_id", l.id)
	set("conflict_of", l.id)
	set("forked_from_turn", turn)
	set("forked_at", now)
	set("created", now)
	set("turn_count", l.main.End().Turn)
	for _, name := range []string{"bundle", "model"} {
		raw, ok := from.Lookup(name)
		if !ok {
			raw = []byte("null")
		}
		set(name, json.RawMessage(raw))
	}
	for _, name := range []string{"name", "working_dir"} {
		if raw, ok := from.Lookup(name); ok {
			set(name, json.RawMessage(raw))
		}
	}
	return md, nil
}

// mayCome returns the reason why the session is not here and may not come.
func (v *work) mayCome() error {
	if v.local.present {
		return nil
	}
	return Foreign(v.id)
}

// restore brings a session that is not here. It appears whole, or not at all.
func (v *work) restore(ctx context.Context) error {
	if err := v.mayCome(); err != nil {
		return err
	}
	v.local.main = &track.Chain{Source: v.local.transcript(), Followed: track.Followed{Marks: []segment.Mark{segment.Begin(segment.Transcript)}}}
	a, err := v.fetchMain(ctx)
	if err != nil {
		return err
	}
	return errors.Join(v.restoreFrom(ctx, a), v.States.Remove(a.file))
}

func (v *work) restoreFrom(ctx context.Context, a *download) error {
	v.local.files = nil
	for _, name := range slices.Concat(sessiondir.Small[:], sessiondir.Imported[:]) {
		f, ok := v.cloud.head.Files[name]
		if !ok {
			continue
		}
		content, err := v.cloud.link.File(ctx, v.sid, f)
		if err == nil {
			v.local.files = append(v.local.files, &localFile{name: name, take: append([]byte{}, content...), clock: f.Clock})
		} else if err := v.cloud.lack(name, err); err != nil {
			return err
		}
	}
	v.dropEnds()
	taken, err := v.chooseLogs(ctx)
	if err != nil {
		return err
	}
	err = v.change(ctx, v.Core.Make, v.id, func(tx core.Tx) error { return v.furnish(tx, a, taken) })
	if errors.Is(err, fs.ErrExist) {
		return track.ErrMoved
	}
	if err != nil {
		return err
	}
	v.Stats.Brought(v.id) // under its name
	v.local.present, v.st.Here, v.st.Gone = true, true, false
	v.cloud.adoptLogs(taken)
	if err := v.installed(ctx, a); err != nil {
		return err
	}
	for _, st := range slices.Sorted(maps.Keys(taken.streams())) {
		delete(v.st.Cached, st)
		err = errors.Join(err, v.States.Remove(replica.LogFile(v.sid, st)))
	}
	return errors.Join(err, v.fetchLogs(ctx, taken.streams()))
}

// furnish fills the directory of a new session.
func (v *work) furnish(tx core.Tx, a *download, taken chosenLogs) error {
	dir := tx.Dir()
	put := func(name string, write func(io.Writer) error) error {
		if err := dir.Replace(name, v.Core.Syncs(), v.cloud.head.Updated, write); err != nil {
			return err
		}
		tx.Renamed(name)
		return nil
	}
	if err := put(sessiondir.Transcript, func(out io.Writer) error { return v.copyDownload(out, a) }); err != nil {
		return err
	}
	for _, f := range v.local.files {
		if sessiondir.IsImported(f.name) {
			if err := v.putImported(tx, f); err != nil {
				return err
			}
			continue
		}
		if err := put(f.name, func(out io.Writer) error { _, err := out.Write(f.take); return err }); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(taken)) {
		held := taken[name]
		if err := put(name, func(out io.Writer) error { return v.States.CopyTo(out, replica.LogFile(v.sid, held.stream), held.size) }); err != nil {
			return err
		}
	}
	if err := dateImported(dir, v.Core.Now()); err != nil {
		return err
	}
	return dir.SetTime(".", v.cloud.head.Updated)
}
