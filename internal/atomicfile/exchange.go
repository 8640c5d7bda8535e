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
	err := d.seam.Do(d.op(seam.Exchange, a, b), func() error { return d.exchange(a, b) })
	if errors.Is(err, syscall.EINVAL) { // from a file system that does not know the flag
		err = errors.ErrUnsupported
	}
	return err
}
