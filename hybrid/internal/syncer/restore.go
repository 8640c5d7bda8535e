package syncer

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// restore brings a session that is not here. It appears whole, or not at all.
func (v *work) restore(ctx context.Context) error {
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
	return dir.SetTime(".", v.cloud.head.Updated)
}
