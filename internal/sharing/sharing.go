// Package sharing waits for files that other programs have open.
//
// Windows refuses to open, rename or remove a file for as long as a program has
// it open that does not share this: the open of Python and of many editors does
// not share deletion, virus scanners and indexers open what was just written,
// and a locked range can be neither read nor written. Most of them let go of the
// file after some milliseconds. [Wait] tries again until then.
//
// Other systems have no such errors. There, [Wait] tries once.
package sharing

import (
	"errors"
	"fmt"
	"time"
)

// Limit is how long [Wait] waits: as long as writers wait for a lock.
const Limit = 10 * time.Second

// DeniedLimit is how long [Open] waits where the system only says that access is
// denied. That may be a file which is about to vanish, or a question of
// permissions, which no time answers.
const DeniedLimit = time.Second

const (
	shortest = time.Millisecond      // the first pause between two tries
	longest  = 20 * time.Millisecond // each pause is twice as long as the last, up to this
)

// Wait calls do, which renames, removes or changes a file, again and again while
// another program has the file open. After [Limit] it gives up, and the error
// Is [ErrInUse].
func Wait(do func() error) error {
	return wait(do, func(err error) time.Duration {
		if inUse(err) || denied(err) {
			return Limit
		}
		return 0
	})
}

// Open is [Wait] for what opens an existing file and returns it.
func Open[T any](open func() (T, error)) (file T, err error) {
	err = wait(func() (err error) { file, err = open(); return err }, func(err error) time.Duration {
		switch {
		case inUse(err):
			return Limit
		case denied(err):
			return DeniedLimit
		}
		return 0
	})
	return file, err
}

// wait calls do until its error is none that limit gives time for.
func wait(do func() error, limit func(error) time.Duration) error {
	err := do()
	start, pause := time.Time{}, shortest
	for {
		most := limit(err)
		if most == 0 {
			return err
		}
		if start.IsZero() {
			start = time.Now()
		}
		left := most - time.Since(start)
		if left <= 0 {
			break
		}
		time.Sleep(min(pause, left))
		pause = min(2*pause, longest)
		err = do()
	}
	if errors.Is(err, ErrInUse) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrInUse, err)
}
