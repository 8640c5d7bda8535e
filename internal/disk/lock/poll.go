package lock

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"
)

// ErrBusy is returned when another Lock, of this or another process, holds the file.
var ErrBusy = errors.New("lock is held elsewhere")

const (
	firstPause   = time.Millisecond
	longestPause = 10 * time.Millisecond
)

// Poll calls try again and again, until its error is not [ErrBusy], ctx ends or the limit
// has passed, and returns the last error. If ctx ends first, the error is ErrBusy and
// ctx's. The pauses are short, grow to 10 ms and have random lengths, so that the waiters
// for one lock do not try in step.
func Poll(ctx context.Context, limit time.Duration, try func() error) error {
	deadline := time.Now().Add(limit)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := try()
		if !errors.Is(err, ErrBusy) {
			return err
		}
		left := time.Until(deadline)
		if left <= 0 {
			return err
		}
		if !Sleep(ctx, min(pause/2+rand.N(pause/2), left)) {
			return fmt.Errorf("%w: %w", ErrBusy, ctx.Err())
		}
	}
}

// Sleep pauses for d and reports whether ctx is still alive.
func Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// control calls f with file's descriptor, which stays open during the call.
func control(file *os.File, f func(fd uintptr) error) error {
	conn, err := file.SyscallConn()
	if err != nil {
		return err
	}
	if closed := conn.Control(func(fd uintptr) { err = f(fd) }); closed != nil {
		return closed
	}
	return err
}
