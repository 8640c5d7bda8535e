package hybrid

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// restore brings a session that is not here. It appears whole, or not at all.
func (v *visit) restore(ctx context.Context) error {
	v.main = &history{source: v.transcript(), followed: followed{Marks: []segment.Mark{segment.Begin(segment.Transcript)}}}
	a, err := v.fetchMain(ctx)
	if err != nil {
		return err
	}
	return errors.Join(v.restoreFrom(ctx, a), v.states.remove(a.file))
}

func (v *visit) restoreFrom(ctx context.Context, a *arrival) error {
	v.files = nil
	for _, name := range fileNames {
		f, ok := v.tip.Files[name]
		if !ok {
			continue
		}
		content, err := v.unpack(ctx, f)
		if err != nil {
			return err
		}
		v.files = append(v.files, &localFile{name: name, take: append([]byte{}, content...)})
	}
	taken, err := v.chooseLogs(ctx)
	if err != nil {
		return err
	}
	err = v.in.Make(ctx, v.id, func(w *sessionstore.Work) error { return v.furnish(w, a, taken) })
	if errors.Is(err, fs.ErrExist) {
		return errMoved
	}
	if err != nil {
		return err
	}
	v.present, v.st.Here, v.st.Gone = true, true, false
	v.adoptLogs(taken)
	if err := v.landed(ctx, a); err != nil {
		return err
	}
	for _, st := range slices.Sorted(maps.Keys(taken.streams())) {
		delete(v.st.Held, st)
		err = errors.Join(err, v.states.remove(heldFile(v.sid, st)))
	}
	return errors.Join(err, v.fetchLogs(ctx, taken.streams()))
}

// furnish fills the directory of a new session.
func (v *visit) furnish(w *sessionstore.Work, a *arrival, taken takenLogs) error {
	dir := w.Dir()
	put := func(name string, write func(io.Writer) error) error {
		if err := dir.Replace(name, v.in.Sync(), v.tip.Updated, write); err != nil {
			return err
		}
		w.Renamed(name)
		return nil
	}
	if err := put(sessiondir.Transcript, func(out io.Writer) error { return v.copyArrived(out, a) }); err != nil {
		return err
	}
	for _, f := range v.files {
		if err := put(f.name, func(out io.Writer) error { _, err := out.Write(f.take); return err }); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(taken)) {
		held := taken[name]
		if err := put(name, func(out io.Writer) error { return v.states.copyTo(out, heldFile(v.sid, held.stream), held.size) }); err != nil {
			return err
		}
	}
	return dir.SetTime(".", v.tip.Updated)
}
