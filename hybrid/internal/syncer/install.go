package syncer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/commit"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// install writes the lines and files that arrived into the session's directory, under the
// session's locks and only where nothing changed since it was scanned. With a nil a it
// writes the small files alone.
func (v *work) install(ctx context.Context, a *download) error {
	err := v.change(ctx, v.Core.ChangeOwned, v.id, func(tx core.Tx) error {
		use, _ := v.use()
		if err := v.inUse(use); err != nil { // since it was decided
			return &waits{err}
		}
		taken, err := v.dropTaken(tx.Dir())
		if err != nil {
			return err
		}
		if a != nil {
			if err := v.installMain(tx, a, taken); err != nil {
				return err
			}
		}
		if err := v.installFiles(tx); err != nil {
			return err
		}
		if err := dateImported(tx.Dir(), v.Core.Now()); err != nil {
			return err
		}
		return tx.Dir().SetTime(".", v.cloud.head.Updated)
	})
	waits := (*waits)(nil)
	switch {
	case errors.As(err, &waits):
		return v.wait(waits.why)
	case errors.Is(err, sessionstore.ErrLocked), errors.Is(err, sessionstore.ErrFenced):
		return v.wait(fmt.Errorf("%w: %w", ErrDeferred, err))
	case errors.Is(err, sessionstore.ErrNotFound):
		return fmt.Errorf("%w: %w", track.ErrMoved, err)
	case err != nil:
		return err
	}
	return v.installed(ctx, a)
}

// waits is an error with the reason why nothing was changed after all.
type waits struct{ why error }

func (w *waits) Error() string { return w.why.Error() }

// installMain replaces the transcript: the bytes here of the common lines, then the lines
// that arrived. The former file becomes the backup. Those that former pulls kept take taken bytes.
func (v *work) installMain(tx core.Tx, a *download, taken int64) error {
	dir := tx.Dir()
	// A write that a power cut left unfinished is recovered first.
	if _, _, err := tx.Transcript(); err != nil && !errors.Is(err, sessionstore.ErrCorrupt) {
		return err
	}
	stamp, err := dir.Stat(sessiondir.Transcript)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !v.local.main.There:
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil, !v.local.main.There, !stamp.SameContent(v.local.main.File):
		return track.ErrMoved
	}
	if v.local.main.Torn {
		if err := dir.Copy(sessiondir.Transcript, dir.QuarantineName(sessiondir.Transcript), v.Core.Syncs()); err != nil {
			return err
		}
	}
	if v.local.main.There {
		if err := v.keepTaken(tx, a, stamp.Size, taken); err != nil {
			return err
		}
	}
	at := vfs.Now(stamp.Mtime)
	if a.to.N == 0 {
		if at, err = dir.MarkEmpty(stamp.Mtime, v.Core.Syncs()); err != nil {
			return err
		}
	}
	err = tx.Replace(sessiondir.Transcript, commit.Replacement{
		Was:    stamp,
		Time:   at,
		Write:  func(out io.Writer) error { return v.compose(out, dir, a) },
		Rotate: func() (bool, error) { return true, nil },
	})
	if errors.Is(err, sessionstore.ErrConflict) {
		return track.ErrMoved
	}
	return err
}

// compose writes the new transcript.
func (v *work) compose(out io.Writer, dir *sessiondir.Dir, a *download) error {
	if a.from.Offset > 0 {
		f, _, err := dir.Open(sessiondir.Transcript)
		if err != nil {
			return err
		}
		_, err = io.CopyN(out, f, a.from.Offset)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return v.copyDownload(out, a)
}

func (v *work) copyDownload(out io.Writer, a *download) error {
	f, err := v.States.Open(a.file)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, f)
	return errors.Join(err, f.Close())
}

// installFiles writes the small files that arrived, where the file here has not changed
// since the scan.
func (v *work) installFiles(tx core.Tx) error {
	dir := tx.Dir()
	for _, f := range v.local.files {
		if f.take == nil {
			continue
		}
		stamp, err := dir.Stat(f.name)
		switch {
		case errors.Is(err, fs.ErrNotExist) && !f.there:
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		case err != nil, !f.there, !stamp.SameContent(f.stamp):
			return track.ErrMoved
		}
		if sessiondir.IsImported(f.name) {
			if err := v.putImported(tx, f); err != nil {
				return err
			}
			continue
		}
		text, err := v.local.withOwn(dir, f)
		if err != nil {
			return err
		}
		f.forms = lineForms(text, f.take)
		err = tx.Replace(f.name, commit.Replacement{
			Was:    stamp,
			Time:   vfs.Now(stamp.Mtime),
			Write:  func(out io.Writer) error { _, err := out.Write(text); return err },
			Rotate: func() (bool, error) { return retires(dir, f) },
		})
		if errors.Is(err, sessionstore.ErrConflict) {
			return track.ErrMoved
		}
		if err != nil {
			return err
		}
		if f.name == sessiondir.Config && f.there {
			v.Log.Warn("another device's configuration replaced the one here", "session", v.id, "file", f.name)
		}
	}
	return nil
}

// retires reports whether the file becomes the backup: metadata does, unless it cannot be
// parsed; then it is kept aside.
func retires(dir *sessiondir.Dir, f *localFile) (bool, error) {
	switch {
	case f.name != sessiondir.Metadata || !f.there:
		return false, nil
	case !f.bad:
		return true, nil
	}
	_, err := dir.QuarantineLinked(f.name)
	return false, err
}

// installed scans the written files, and records that they are in step.
func (v *work) installed(ctx context.Context, a *download) error {
	for _, f := range v.local.files {
		if f.take != nil {
			f.stamp = sessiondir.Stamp{}
			v.know(f, f.take, sum(f.take))
			f.there, f.sum, f.content, f.take = true, sum(f.take), f.take, nil
		}
	}
	v.out.Pulled = true
	if err := v.local.syncFiles(ctx); err != nil {
		return err
	}
	if a == nil {
		return v.remember()
	}
	main, err := v.local.transcript().Scan(ctx, a.known, false)
	if err != nil {
		return track.Gone(err)
	}
	if main.Point() != a.to {
		return track.ErrMoved // a program wrote at once
	}
	v.local.main, v.st.Main = main, &main.Followed
	v.st.Own, v.st.Synced, v.st.Quiet = true, true, time.Now()
	return v.remember()
}

// dateImported gives the transcript of a session that was imported from another tool the
// time of its last message, as the import does: lists show that time.
func dateImported(dir *sessiondir.Dir, now time.Time) (err error) {
	content, _, err := dir.Read(sessiondir.Metadata)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	md, _ := sessionstore.ParseMetadata(content) // damaged metadata say nothing
	if from, ok := md.Lookup("import"); err != nil || !ok || pyjson.KindOf(from) != pyjson.Object {
		return err
	}
	f, stamp, err := dir.Open(sessiondir.Transcript)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	end := make([]byte, min(stamp.Size, 1<<20)) // a longer message keeps the time of the sync
	if _, err = f.Seek(-int64(len(end)), io.SeekEnd); err == nil {
		_, err = io.ReadFull(f, end)
	}
	if err != nil {
		return err
	}
	end = bytes.TrimSuffix(end, []byte("\n"))
	last, _ := sessionstore.ParseMessage(end[bytes.LastIndexByte(end, '\n')+1:])
	if at, ok := last.Timestamp(); ok && at.Unix() > 0 && at.Before(now) {
		return dir.SetTime(sessiondir.Transcript, at)
	}
	return nil
}

// setTime gives a session that is in step the time of its last change, as the head has
// it, so that lists have the same order everywhere: a later time here comes from no
// change, or from a change that the others have too. While the files must not be changed,
// the session counts as not in step, and is synced again later.
func (v *work) setTime(ctx context.Context) error {
	if v.cloud.head == nil || v.cloud.head.Deleted || v.local.changed.Equal(v.cloud.head.Updated) || v.local.main.Point() != v.cloud.head.Transcript.Point() {
		return nil
	}
	later := time.Now().Add(quietFor)
	if v.local.busy() != nil {
		v.out.Later = later
		return nil
	}
	err := v.Core.Change(ctx, v.id, func(tx core.Tx) error {
		dir, err := tx.Dir().Stat(".")
		if err != nil || !dir.Mtime.Equal(v.local.changed) {
			return err // a program changed it just now
		}
		defer v.Stats.Brought(v.id)
		return tx.Dir().SetTime(".", v.cloud.head.Updated)
	})
	if errors.Is(err, sessionstore.ErrLocked) || errors.Is(err, sessionstore.ErrFenced) {
		v.out.Later = later
		return nil
	}
	return track.Gone(err)
}

// putImported writes a file of an import as it arrived.
func (s *session) putImported(tx core.Tx, f *localFile) (err error) {
	top := tx.Dir().Dir
	if err := top.Mkdir(sessiondir.ImportFolder); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	dir, err := top.Below(sessiondir.ImportFolder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	write := func(out io.Writer) error { _, err := out.Write(f.take); return err }
	if err := dir.Replace(path.Base(f.name), s.Core.Syncs(), s.Core.Now(), write); err != nil {
		return err
	}
	tx.Renamed(f.name)
	if !s.Core.Syncs() {
		return nil
	}
	return errors.Join(dir.Sync(), top.Sync())
}

// transcript brings the transcript here to the history of the head.
func (v *work) transcript(ctx context.Context) error {
	a, err := v.fetchMain(ctx)
	if err != nil {
		return err
	}
	if why := v.local.busy(); why != nil {
		return errors.Join(v.wait(why), v.States.Remove(a.file))
	}
	err = errors.Join(v.install(ctx, a), v.States.Remove(a.file))
	if err == nil && v.out.State != Behind {
		v.out.State, v.out.Did, v.out.Pulled = UpToDate, Pulled, true
	}
	return err
}

// inStep records that both sides have the file in its present form.
func (l *local) inStep(ctx context.Context, f *localFile) error {
	if known := l.st.Files[f.name]; known != nil && known.Sum == f.sum && known.Clock == f.clock {
		return nil
	}
	if err := l.load(ctx, f); err != nil {
		return err
	}
	l.know(f, f.content, f.sum)
	return nil
}

// know records base as the content that both sides have, where the file here has the sum
// seen.
func (s *session) know(f *localFile, base []byte, seen segment.Hash) {
	k := &replica.KnownFile{Sum: sha256.Sum256(base), Seen: seen, File: f.stamp, At: time.Now(), Clock: f.clock, Forms: f.forms}
	if f.name == sessiondir.Metadata {
		k.Base = base
	}
	if s.st.Files == nil {
		s.st.Files = map[string]*replica.KnownFile{}
	}
	s.st.Files[f.name] = k
}

// giveFile stores content, or the file here when content is nil.
func (v *work) giveFile(ctx context.Context, f *localFile, next *head.Head, uploads *uploader, content []byte) error {
	if content == nil {
		if err := v.local.load(ctx, f); err != nil {
			return err
		}
		content = f.content
	}
	blob, docs := segment.Pack(v.sid, content, v.Random.Name(8))
	if err := uploads.take(ctx, docs); err != nil {
		return err
	}
	if next.Files == nil {
		next.Files = map[string]head.File{}
	}
	if _, replaces := next.Files[f.name]; replaces || f.clock == (head.HLC{}) {
		f.clock = v.clock(f, next)
	}
	next.Files[f.name] = head.File{Blob: blob, Clock: f.clock, Summary: head.Summary(f.name, content)}
	f.gave = true
	return nil
}

// clock returns the time of a file's change here, later than all changes in its past.
func (s *session) clock(f *localFile, next *head.Head) head.HLC {
	return head.Next(next.Files[f.name].Clock, f.stamp.Mtime, s.Device.ID)
}

// takeFile fetches the cloud's file.
func (c *cloud) takeFile(ctx context.Context, f *localFile, theirs head.File) error {
	content, err := c.link.File(ctx, c.sid, theirs)
	if err == nil {
		f.take = append([]byte{}, content...)
	}
	return err
}

// pushFiles merges the small files of both sides, stores the changed ones, and sets take
// of those to write here. Without push it only sets take.
func (v *work) pushFiles(ctx context.Context, next *head.Head, uploads *uploader, push bool) (changed bool, err error) {
	for _, f := range v.local.files {
		theirs, remote := next.Files[f.name]
		if remote {
			f.clock = theirs.Clock
		}
		known := v.st.Files[f.name]
		here := f.there && (known == nil || known.Sum != f.sum)
		there := remote && (known == nil || known.Sum != theirs.Sum || !f.there && !f.large && (v.recreates || f.name == sessiondir.Metadata))
		switch {
		case f.large && there:
			err = v.keep(f)
		case f.large:
		case f.bad: // it never leaves, and the next write here mends it, if its backup is good
			if _, err = v.Store.Metadata(ctx, v.id); remote && errors.Is(err, sessionstore.ErrCorrupt) {
				err = v.cloud.takeFile(ctx, f, theirs)
			} else {
				err = nil
			}
		case f.there && remote && f.sum == theirs.Sum:
			if err := v.local.inStep(ctx, f); err != nil {
				return changed, err
			}
		case there && !here:
			err = v.cloud.takeFile(ctx, f, theirs)
		case here && !there && push:
			err = v.giveFile(ctx, f, next, uploads, nil)
		case here && there && push:
			err = v.mergeFile(ctx, f, next, uploads)
		}
		changed = changed || f.gave
		if err = v.cloud.lack(f.name, err); err != nil {
			return changed, fmt.Errorf("sync %s: %w", f.name, err)
		}
	}
	return changed, nil
}

// keep records a file that is too large to send and that another device changed, too: it
// stays here as it is.
func (v *work) keep(f *localFile) error {
	v.cloud.lacking = append(v.cloud.lacking, fmt.Errorf("%s: the file here is larger than %d bytes and stays; the remote has another one", f.name, v.LargestFile))
	return nil
}

// mergeFile merges a file that both sides changed. For a file without members the later
// change wins, and the other stays beside the sync state.
func (v *work) mergeFile(ctx context.Context, f *localFile, next *head.Head, uploads *uploader) error {
	theirs := next.Files[f.name]
	if err := v.local.load(ctx, f); err != nil {
		return err
	}
	content, err := v.cloud.link.File(ctx, v.sid, theirs)
	if err != nil {
		return err
	}
	ours := head.Version{Text: f.content, Clock: head.HLC{Wall: f.stamp.Mtime.UnixMilli(), Device: v.Device.ID}}
	var base []byte
	if known := v.st.Files[f.name]; known != nil {
		base = known.Base
	}
	merged, lost := content, []head.Loss(nil)
	if f.name == sessiondir.Metadata {
		merged, lost = head.MergeMetadata(base, ours, head.Version{Text: content, Clock: theirs.Clock})
		merged = v.count(merged)
	} else if ours.Clock.Compare(theirs.Clock) > 0 {
		merged, lost = f.content, []head.Loss{{Value: content, Clock: theirs.Clock}}
	} else {
		lost = []head.Loss{{Value: f.content, Clock: ours.Clock}}
	}
	if err := v.keepLost(ctx, f, lost, ours.Clock); err != nil {
		return err
	}
	if !bytes.Equal(merged, content) {
		if err := v.giveFile(ctx, f, next, uploads, merged); err != nil {
			return err
		}
	}
	if !bytes.Equal(merged, f.content) {
		f.take = merged
	}
	return nil
}

// count sets the members that count messages, which neither side has right.
func (v *work) count(metadata []byte) []byte {
	if _, ok := pyjson.Lookup(metadata, "turn_count"); !ok || v.local.main == nil || v.cloud.head == nil {
		return metadata
	}
	turns := max(v.local.main.End().Turn, v.cloud.head.Transcript.Turns)
	return pyjson.Splice(metadata, "turn_count", fmt.Append(nil, turns))
}

// keepLost keeps the values that lost a merge where people can find them. A value that
// was written here, at the time ours, is kept in its form here.
func (v *work) keepLost(ctx context.Context, f *localFile, lost []head.Loss, ours head.HLC) error {
	if len(lost) == 0 {
		return nil
	}
	own, err := v.local.raw(ctx, f)
	if err != nil {
		return err
	}
	for _, l := range lost {
		value := l.Value
		if l.Clock == ours && l.Key == "" {
			value = own
		} else if here, ok := pyjson.Lookup(own, l.Key); ok && l.Clock == ours {
			value = here
		}
		if err := v.States.Write(replica.LostFile(v.sid, l.Key, f.name, sha256.Sum256(value)), value); err != nil {
			return err
		}
	}
	v.Log.Warn("a change lost a merge; it is kept for 90 days in .sessionstore/sync", "session", v.id, "file", v.sid+".lost-*")
	return nil
}
