package sessionstore

import (
	"context"
	"errors"
	"io/fs"

	"github.com/amplifier-go/sessionstorage/internal/keyword"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/vfs"
)

// holds reports whether a row of the transcript of the session id holds the
// keyword that r looks for. Like the reference it does not look into the
// backup, unless a marker tells that the transcript itself is being written.
// The error is that of ctx, or a [*CorruptError].
func holds(ctx context.Context, r *keyword.Reader, dir *vfs.Reader, id string) (found bool, err error) {
	name := sessiondir.Transcript
	if dir.Has(id, sessiondir.Marker) {
		name = sessiondir.Backup(name)
	}
	f, err := dir.Open(id, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, &CorruptError{Path: dir.Path(id, name), Err: cause(err)}
	}
	defer func() { err = joinErrors(err, f.Close()) }()
	found, err = r.Find(ctx, f)
	if err != nil {
		return false, atDamage(dir.Path(id, name), err)
	}
	return found, nil
}

// atDamage makes the error of a [keyword.Reader] that of the file at path.
func atDamage(path string, err error) error {
	damage := (*keyword.DamageError)(nil)
	if !errors.As(err, &damage) {
		return err
	}
	return &CorruptError{Path: path, Line: damage.Line, Offset: damage.Offset, Err: cause(damage.Err)}
}
