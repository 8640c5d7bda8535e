package atomicfile

import (
	"errors"
	"syscall"

	"github.com/amplifier-go/sessionstorage/internal/seam"
)

// Exchange swaps the names of the files a and b, at once: at every instant each
// name leads to one of them. The error Is [errors.ErrUnsupported] where the
// system or the file system has no such call. When it fails, nothing has changed.
func (d *Dir) Exchange(a, b string) error {
	return known(d.seam.Do(d.op(seam.Exchange, a, b), func() error { return d.exchange(a, b) }))
}

// known returns err, the outcome of a call with a flag that some file systems do not know.
func known(err error) error {
	if errors.Is(err, syscall.EINVAL) {
		return errors.ErrUnsupported
	}
	return err
}

// RenameNew gives the file the name to, which must be free. The error Is
// [errors.ErrUnsupported] where the system or the file system has no such call. The name is
// durable after [Dir.Sync].
func (p *Pending) RenameNew(to string) error {
	err := known(p.dir.seam.Do(p.dir.op(seam.Rename, p.name, to), func() error { return p.dir.renameNew(p.name, to) }))
	if err == nil {
		p.name = to
	}
	return err
}
