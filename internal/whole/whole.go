// Package whole bounds what is read into memory as a whole.
//
// A program of 32 bits has at most 4 GB of addresses: a file that does not fit
// would end it ("makeslice: len out of range", "out of memory"), and nobody can
// recover from that. So everything that reads a whole file, or a whole line,
// asks here first.
package whole

import (
	"errors"
	"fmt"
	"io"
)

// Max is the size of the largest file, and of the longest line, that is read as
// a whole: 256 MiB where an int has 32 bits, else 64 GiB.
const Max int64 = 256 << 20 << (8 * (^uint(0) >> 63))

// ErrTooLarge tells that a file is too large for the memory of this program.
// That is no damage: a program of 64 bits reads it.
var ErrTooLarge = errors.New("too large to be read as a whole by this program")

// Check tells whether size bytes are too many. The error Is [ErrTooLarge].
func Check(size int64) error {
	if size <= Max {
		return nil
	}
	return fmt.Errorf("%w: it has %d bytes, the most is %d", ErrTooLarge, size, Max)
}

// ReadAll is [io.ReadAll] of at most [Max] bytes.
func ReadAll(r io.Reader) ([]byte, error) { return readAll(r, Max) }

func readAll(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrTooLarge, most)
	}
	return data, err
}
