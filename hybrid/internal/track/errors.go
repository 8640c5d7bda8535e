package track

import (
	"errors"
	"fmt"
	"io/fs"
)

// ErrMoved tells that a file is not what it was when it was scanned.
var ErrMoved = errors.New("file changed meanwhile")

// Gone makes a session that vanishes while it is read a reason to scan it again.
func Gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrMoved, err)
	}
	return err
}
