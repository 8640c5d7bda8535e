package commit

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

var errAltered = errors.New("the file is not what was written")

// copyOf prepares a complete copy of the open file src, to be called name. The
// error Is errAltered when src has no longer the stamp at.
func (f File) copyOf(src *os.File, at sessiondir.Stamp, name string) (*vfs.Pending, error) {
	p, err := f.Dir.Prepare(name, f.Sync, at.Mtime, func(out io.Writer) error {
		_, err := io.CopyN(out, io.NewSectionReader(src, 0, at.Size), at.Size)
		if errors.Is(err, io.EOF) {
			err = errAltered
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if now, err := f.Dir.StampOf(src); err != nil || !now.SameContent(at) {
		p.Discard()
		return nil, errors.Join(err, errAltered)
	}
	return p, nil
}

// unchanged returns ErrOvertaken unless main is still the file with the stamp was. The
// zero stamp fits any file.
func (f File) unchanged(was sessiondir.Stamp) error {
	if was == (sessiondir.Stamp{}) {
		return nil
	}
	now, err := f.Dir.Stat(f.Name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !now.SameContent(was) {
		return ErrOvertaken
	}
	return err
}

// rename gives p the name, closes it and returns its stamp. The error Is [ErrOvertaken]
// when the name already belongs to another file.
func rename(d *sessiondir.Dir, p *vfs.Pending, name string) (sessiondir.Stamp, error) {
	mine, err := d.StampOf(p.File())
	if err == nil {
		err = p.Rename(name)
	}
	if err != nil {
		p.Discard()
		return sessiondir.Stamp{}, err
	}
	now, err := d.Stat(name)
	if err == nil && !(now.SameFile(mine) || mine.Inode == 0) || errors.Is(err, fs.ErrNotExist) {
		err = ErrOvertaken
	}
	return now, afterNaming(errors.Join(err, p.Close()))
}
