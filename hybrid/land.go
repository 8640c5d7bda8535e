package hybrid

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// land writes what arrived into the session's directory, under the session's
// locks and only where nothing changed since it was looked at. a may be nil:
// then it is the small files alone.
func (v *visit) land(ctx context.Context, a *arrival) error {
	release, err := v.in.Own(ctx, v.id)
	switch {
	case errors.Is(err, sessionstore.ErrLocked), errors.Is(err, sessionstore.ErrFenced):
		v.out.state = Behind
		return nil
	case err != nil:
		return err
	}
	err = v.in.Change(ctx, v.id, func(w *sessionstore.Work) error {
		if a != nil {
			if err := v.landMain(w, a); err != nil {
				return err
			}
		}
		if err := v.landFiles(w); err != nil {
			return err
		}
		return w.Dir().SetTime(".", v.tip.Updated)
	})
	err = errors.Join(err, release())
	switch {
	case errors.Is(err, sessionstore.ErrLocked), errors.Is(err, sessionstore.ErrFenced):
		v.out.state = Behind
		return nil
	case errors.Is(err, sessionstore.ErrNotFound):
		return fmt.Errorf("%w: %w", errMoved, err)
	case err != nil:
		return err
	}
	return v.landed(ctx, a)
}

// landMain replaces the transcript: the bytes here of what both have, then what
// arrived. What stood here becomes the backup.
func (v *visit) landMain(w *sessionstore.Work, a *arrival) error {
	dir := w.Dir()
	// What a power cut left unfinished gets its name back first.
	if _, _, err := w.Transcript(); err != nil && !errors.Is(err, sessionstore.ErrCorrupt) {
		return err
	}
	stamp, err := dir.Stat(sessiondir.Transcript)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !v.main.there:
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil, !v.main.there, !stamp.SameContent(v.main.File):
		return errMoved
	}
	if v.main.Torn {
		if err := dir.Copy(sessiondir.Transcript, dir.AsideName(sessiondir.Transcript), v.in.Sync()); err != nil {
			return err
		}
	}
	at := atomicfile.Now(stamp.Mtime)
	if a.to.N == 0 {
		at = sessiondir.EmptyTime(stamp.Mtime)
	}
	err = dir.ReplaceKeeping(sessiondir.Transcript, v.in.Sync(), at,
		func(out io.Writer) error { return v.compose(out, dir, a) },
		func() (atomicfile.Keep, error) { return dir.Retire(sessiondir.Transcript, stamp, v.in.Sync()) })
	if errors.Is(err, sessiondir.ErrOvertaken) {
		return errMoved
	}
	if err == nil {
		w.Renamed(sessiondir.Transcript)
	}
	return err
}

// compose writes the new transcript.
func (v *visit) compose(out io.Writer, dir *sessiondir.Dir, a *arrival) error {
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
	return v.copyArrived(out, a)
}

func (v *visit) copyArrived(out io.Writer, a *arrival) error {
	f, err := v.states.open(a.file)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, f)
	return errors.Join(err, f.Close())
}

// landFiles writes the small files that are to stand here, where the one that
// was looked at still does.
func (v *visit) landFiles(w *sessionstore.Work) error {
	dir := w.Dir()
	for _, f := range v.files {
		if f.take == nil {
			continue
		}
		stamp, err := dir.Stat(f.name)
		switch {
		case errors.Is(err, fs.ErrNotExist) && !f.there:
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		case err != nil, !f.there, !stamp.SameContent(f.stamp):
			return errMoved
		}
		keep := func() (atomicfile.Keep, error) { return atomicfile.Keep{}, nil }
		if f.name == sessiondir.Metadata {
			keep = func() (atomicfile.Keep, error) { return retireMetadata(dir, f, stamp, v.in.Sync()) }
		}
		err = dir.ReplaceKeeping(f.name, v.in.Sync(), atomicfile.Now(stamp.Mtime), func(out io.Writer) error {
			_, err := out.Write(f.take)
			return err
		}, keep)
		if errors.Is(err, sessiondir.ErrOvertaken) {
			return errMoved
		}
		if err != nil {
			return err
		}
		w.Renamed(f.name)
	}
	return nil
}

// retireMetadata makes the metadata the backup, unless nobody could read it.
func retireMetadata(dir *sessiondir.Dir, f *localFile, stamp sessiondir.Stamp, sync bool) (atomicfile.Keep, error) {
	keep, err := dir.Retire(f.name, stamp, sync)
	if f.bad && keep.As != "" {
		keep.As = dir.AsideName(f.name)
	}
	return keep, err
}

// landed looks at what was written, and keeps in mind that it is in step.
func (v *visit) landed(ctx context.Context, a *arrival) error {
	for _, f := range v.files {
		if f.take != nil {
			f.stamp = sessiondir.Stamp{}
			v.know(f, f.take, sum(f.take))
			f.there, f.sum, f.content, f.take = true, sum(f.take), f.take, nil
		}
	}
	v.out.pulled = true
	if err := v.harden(ctx); err != nil {
		return err
	}
	if a == nil {
		return v.remember()
	}
	main, err := v.transcript().look(ctx, nil, false)
	if err != nil {
		return gone(err)
	}
	if main.point() != a.to {
		return errMoved // somebody wrote at once, or the rules of redaction are not stable
	}
	v.main, v.st.Main = main, &main.followed
	v.st.Own, v.st.Quiet = true, time.Now()
	v.marks.takeOwn(v.id)
	return v.remember()
}

// even gives a session that is in step the time of its last change, as the tip
// has it, so that lists have the same order everywhere: what moved it here was
// no change, or one that the others have too.
func (v *visit) even(ctx context.Context) error {
	if v.tip == nil || v.tip.Deleted || v.changed.Equal(v.tip.Updated) || v.main.point() != v.tip.Transcript.Point() || v.live() {
		return nil
	}
	err := v.in.Change(ctx, v.id, func(w *sessionstore.Work) error {
		dir, err := w.Dir().Stat(".")
		if err != nil || !dir.Mtime.Equal(v.changed) {
			return err // somebody changed it just now
		}
		return w.Dir().SetTime(".", v.tip.Updated)
	})
	if errors.Is(err, sessionstore.ErrLocked) || errors.Is(err, sessionstore.ErrFenced) {
		return nil
	}
	return gone(err)
}
