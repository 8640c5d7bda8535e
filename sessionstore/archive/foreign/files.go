package foreign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/commit"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// files writes the files of one session.
type files struct {
	tx    core.Tx
	core  core.Store
	place string // see target.place
}

// announce notes in metadata which transcript will replace the session's transcript.
func (f files) announce(md *sessionstore.Metadata, tg target, has, made sessionstore.Revision) error {
	s := stateIn(*md, f.place)
	s.Tool, s.ID, s.Transcript, s.Pending = tg.file.Tool.Name(), tg.file.ID, revisionText(has), revisionText(made)
	s.Rules, s.Early = rules, tg.early
	if err := md.Set(f.place, s); err != nil {
		return err
	}
	return f.tx.SetMetadata(*md)
}

// transcript replaces the transcript that has the stamp was by the one with the revision
// made. The replaced transcript becomes the backup. The error Is thread.ErrChanged when the
// tool's file now makes another transcript.
func (f files) transcript(ctx context.Context, tg target, was sessiondir.Stamp, made sessionstore.Revision) error {
	return f.tx.Replace(sessiondir.Transcript, commit.Replacement{
		Was: was, Time: vfs.Now(was.Mtime),
		Write: func(w io.Writer) error {
			p, err := tg.write(ctx, w, made)
			if err == nil && p.want != made {
				err = thread.ErrChanged
			}
			return err
		},
		Rotate: func() (bool, error) { return true, nil },
	})
}

// keep keeps the tool's file, if the target does, and the map of its lines. The error Is
// thread.ErrChanged where the file changed since it was read.
func (f files) keep(ctx context.Context, tg target, r *thread.Rendering) error {
	if tg.original {
		if err := f.beside(originalFile, func(w io.Writer) error { return tg.file.Pack(ctx, w) }); err != nil {
			return err
		}
	}
	return f.beside(mapFile, func(w io.Writer) error { return cmp.Or(tg.writeMap(r, w), ctx.Err()) })
}

// date gives the files of the session the time of the last line that became a message, so
// that lists show when it went on. The session's directory keeps the time of the import:
// tools remove sessions by it.
func (f files) date(r *thread.Rendering) error {
	at := r.LastTime
	if at.Unix() <= 0 || at.After(f.core.Now()) { // the file has none, or a wrong one
		return nil
	}
	for _, name := range []string{sessiondir.Transcript, sessiondir.Metadata, f.place + "/" + mapFile, f.place + "/" + originalFile} {
		if err := f.tx.Dir().SetTime(name, at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("set the time of %s: %w", name, err)
		}
	}
	return nil
}

// beside writes a file in the folder of the import.
func (f files) beside(name string, write func(io.Writer) error) (err error) {
	top := f.tx.Dir().Dir
	if err := top.Mkdir(f.place); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	root, err := top.Root().OpenRoot(f.place)
	if err != nil {
		return err
	}
	dir := top.At(root)
	defer func() { err = errors.Join(err, dir.Close()) }()
	if err := dir.Replace(name, f.core.Syncs(), f.core.Now(), write); err != nil {
		return err
	}
	f.tx.Renamed(f.place + "/" + name)
	if !f.core.Syncs() {
		return nil
	}
	return errors.Join(dir.Sync(), top.Sync())
}
