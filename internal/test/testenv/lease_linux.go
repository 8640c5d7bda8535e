package testenv

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// leaseHeld is how long a lease is kept once a program waits for the file.
const leaseHeld = 2 * time.Millisecond

// A Lease is a write lease on a file, as another program may hold it: until a program opens
// the file, and two milliseconds longer.
type Lease struct {
	file   *os.File
	broken atomic.Bool
	wait   sync.WaitGroup
	end    chan struct{}
}

// TakeLease takes a lease on the file path, once no process has that open. The test is
// skipped where the file system gives none.
func TakeLease(t testing.TB, path string) *Lease {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for err = takeLease(f); errors.Is(err, unix.EAGAIN); err = takeLease(f) {
		time.Sleep(leaseHeld / 20)
	}
	Need(t, err == nil, fmt.Sprintf("no lease on %s: %v", path, err))
	l := &Lease{file: f, end: make(chan struct{})}
	l.wait.Go(l.hold)
	return l
}

// takeLease asks for a lease that sends SIGURG when a program waits: a program in Go
// ignores this signal, while SIGIO may end one that does not expect it.
func takeLease(f *os.File) error {
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETSIG, int(unix.SIGURG)); err != nil {
		return err
	}
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK)
	return err
}

// hold gives the lease up, a moment after a program opened the file.
func (l *Lease) hold() {
	defer l.file.Close()
	for {
		if held, err := unix.FcntlInt(l.file.Fd(), unix.F_GETLEASE, 0); err != nil || held != unix.F_WRLCK {
			l.broken.Store(true)
			time.Sleep(leaseHeld)
			return
		}
		select {
		case <-l.end:
			return
		case <-time.After(leaseHeld / 20):
		}
	}
}

// End gives the lease up, and reports whether a program opened the file while it was held.
func (l *Lease) End() (broken bool) {
	close(l.end)
	l.wait.Wait()
	return l.broken.Load()
}
