package atomicfile

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/amplifier-go/sessionstorage/internal/fault"
)

// Exchange swaps the files a and b, so that at every instant a names one of
// them. Where the system cannot swap names at once, b may for an instant name
// nothing, and the directory is synced between, so that no power cut leaves
// the old a alone. The error Is [errors.ErrUnsupported], and nothing has
// changed, where there are no hard links either.
func (d *Dir) Exchange(a, b string) error {
	err := d.seam.Do(d.op(fault.Exchange, a, b), func() error { return d.exchange(a, b) })
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	tmp := "." + b + strconv.FormatInt(rand.Int64(), 10)
	if err := d.Link(a, tmp); err != nil {
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	if err := d.Rename(b, a); err != nil {
		return errors.Join(err, d.Remove(tmp))
	}
	err = d.Sync()
	if err == nil {
		err = d.Rename(tmp, b)
	}
	if err != nil {
		return errors.Join(errHalf, err)
	}
	return nil
}

// errHalf tells that what a name led to has the name of a temporary file, and
// the name leads to what should have replaced it.
var errHalf = errors.New("names were swapped by half")
