package syncer

import (
	"errors"
	"io"
	"io/fs"
	"path"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// putImported writes a file of an import as it came.
func (s *session) putImported(tx core.Tx, f *localFile) (err error) {
	top := tx.Dir().Dir
	if err := top.Mkdir(sessiondir.ImportFolder); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	root, err := top.Root().OpenRoot(sessiondir.ImportFolder)
	if err != nil {
		return err
	}
	dir := top.At(root)
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
