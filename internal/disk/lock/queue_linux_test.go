package lock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

func init() {
	children["waits"] = func(dir, _ string) error {
		return queueIn(dir).Line("x").Wait(context.Background(), func() error { return ErrBusy })
	}
}

// queueIn returns a queue of its own of the ticket file in dir, as another
// process has it.
func queueIn(dir string) *Queue {
	path := filepath.Join(dir, "tickets")
	return NewQueue(path, func() (*os.File, error) { return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) })
}

func newQueue(t *testing.T, dir string) *Queue {
	t.Helper()
	q := queueIn(dir)
	t.Cleanup(func() { require.NoError(t, q.Close()) })
	return q
}

// aLock is a lock that counts its holders.
type aLock struct{ holders atomic.Int32 }

func (l *aLock) try() error {
	if !l.holders.CompareAndSwap(0, 1) {
		return ErrBusy
	}
	return nil
}

func (l *aLock) unlock() { l.holders.Store(0) }

// waiting counts the tickets in a line, as another process sees them.
func waiting(t *testing.T, q *Queue, name string) int {
	t.Helper()
	l := q.Line(name)
	f, err := q.made()
	require.NoError(t, err)
	n := 0
	for at := l.first; ; n++ {
		other, found, err := f.find(at, l.last())
		require.NoError(t, err)
		if !found {
			return n
		}
		at = other + 1
	}
}

func untilWaiting(t *testing.T, q *Queue, name string, n int) {
	t.Helper()
	require.Eventually(t, func() bool { return waiting(t, q, name) == n }, time.Minute, time.Millisecond)
}

func TestLineIsInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, lineIsInOrder)
}

func lineIsInOrder(t *testing.T) {
	dir := t.TempDir()
	lock, watch := &aLock{}, newQueue(t, dir)
	require.NoError(t, lock.try())
	const waiters = 10
	var mu sync.Mutex
	var order []int
	var wg sync.WaitGroup
	for i := range waiters {
		q := newQueue(t, dir)
		wg.Go(func() {
			if err := q.Line("x").Wait(t.Context(), lock.try); err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			order = append(order, i)
			mu.Unlock()
			lock.unlock()
		})
		untilWaiting(t, watch, "x", i+1)
		require.False(t, watch.Line("x").Empty())
		require.True(t, watch.Line("y").Empty())
	}
	lock.unlock()
	wg.Wait()
	require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, order)
	require.True(t, watch.Line("x").Empty())
}

// A caller in a tight loop lines up behind those who wait, although it finds
// the lock free each time.
func TestTightLoopDoesNotOvertake(t *testing.T) {
	t.Parallel()
	synctest.Test(t, tightLoopDoesNotOvertake)
}

func tightLoopDoesNotOvertake(t *testing.T) {
	dir := t.TempDir()
	lock := &aLock{}
	var turns [4]atomic.Int32
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	for i := range turns {
		q := newQueue(t, dir)
		wg.Go(func() {
			for ctx.Err() == nil {
				if err := q.Line("x").Wait(ctx, lock.try); err != nil {
					return
				}
				if turns[i].Add(1) >= 50 {
					cancel()
				}
				time.Sleep(2 * time.Millisecond)
				lock.unlock()
			}
		})
	}
	wg.Wait()
	for i := range turns {
		require.GreaterOrEqual(t, turns[i].Load(), int32(25), "the share of waiter %d", i)
	}
}

func TestLimitIsOfAHolder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, limitIsOfAHolder)
}

func limitIsOfAHolder(t *testing.T) {
	dir := t.TempDir()
	lock, watch := &aLock{}, newQueue(t, dir)
	const limit, waiters = 2 * time.Second, 6
	results := make(chan error, waiters)
	line := func(hold time.Duration) {
		for i := range waiters {
			q := newQueue(t, dir)
			q.pace.limit = limit
			go func() {
				err := q.Line("x").Wait(t.Context(), lock.try)
				if err == nil {
					time.Sleep(hold)
					lock.unlock()
				}
				results <- err
			}()
			untilWaiting(t, watch, "x", i+1)
		}
	}
	require.NoError(t, lock.try())
	line(limit / 3) // so the last one waits for 5/3 of the limit
	lock.unlock()
	for range waiters {
		require.NoError(t, <-results, "the line moves")
	}

	require.NoError(t, lock.try())
	began := time.Now()
	line(0)
	for range waiters {
		require.ErrorIs(t, <-results, ErrBusy)
	}
	require.Less(t, time.Since(began), (waiters-1)*limit, "not one limit after the other")
}

// A process that is stopped keeps its ticket and tries nothing.
func TestStoppedFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, stoppedFirst)
}

func stoppedFirst(t *testing.T) {
	dir := t.TempDir()
	stopped := newQueue(t, dir)
	f, err := stopped.made()
	require.NoError(t, err)
	_, err = stopped.Line("x").take(f)
	require.NoError(t, err)
	q, lock := newQueue(t, dir), &aLock{}
	q.pace.patience, q.pace.delay = 50*time.Millisecond, 10*time.Millisecond
	began := time.Now()
	require.NoError(t, q.Line("x").Wait(t.Context(), lock.try))
	require.GreaterOrEqual(t, time.Since(began), q.pace.patience)
}

func TestKilledWaiter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lock, watch := &aLock{}, newQueue(t, dir)
	require.NoError(t, lock.try())
	waiter := testenv.Spawn(t, "waits", dir, "")
	untilWaiting(t, watch, "x", 1)
	q := newQueue(t, dir)
	q.pace.patience = time.Hour // it is not by this that it gets the lock
	got := make(chan error, 1)
	go func() { got <- q.Line("x").Wait(t.Context(), lock.try) }()
	untilWaiting(t, watch, "x", 2)
	waiter.Kill()
	lock.unlock()
	require.NoError(t, <-got)
}

// Many goroutines of one queue have one ticket. ctx ends each at once, and
// no goroutine stays: a bubble ends only when all of its goroutines did.
func TestManyInOneProcess(t *testing.T) {
	synctest.Test(t, manyInOneProcess)
}

func manyInOneProcess(t *testing.T) {
	dir := t.TempDir()
	q, lock, watch := newQueue(t, dir), &aLock{}, newQueue(t, dir)
	require.NoError(t, lock.try())
	const waiters = 200
	late := make(chan time.Duration, waiters) // how long after the end of its context a waiter ended
	var busy atomic.Int64                     // those that had begun to wait
	var cancels []context.CancelFunc
	var ends [waiters]atomic.Pointer[time.Time]
	for i := range waiters {
		ctx, cancel := context.WithCancel(t.Context())
		cancels = append(cancels, cancel)
		go func() {
			err := q.Line("x").Wait(ctx, lock.try)
			end := time.Since(*ends[i].Load())
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			if errors.Is(err, ErrBusy) {
				busy.Add(1)
			}
			late <- end
		}()
	}
	untilWaiting(t, watch, "x", 1)
	require.Equal(t, 1, waiting(t, watch, "x"))
	for i := range waiters {
		at := time.Now()
		ends[i].Store(&at)
		cancels[i]()
		require.Zero(t, <-late)
	}
	require.Positive(t, busy.Load())
	require.True(t, watch.Line("x").Empty())
	require.Empty(t, q.gates)
}

func TestTicketFileIsRemoved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, ticketFileIsRemoved)
}

func ticketFileIsRemoved(t *testing.T) {
	dir := t.TempDir()
	q, other, lock := newQueue(t, dir), newQueue(t, dir), &aLock{}
	other.pace.checked, q.pace.checked = time.Millisecond, time.Millisecond
	require.True(t, q.Line("x").Empty())
	require.NoFileExists(t, q.path, "nobody has waited yet")
	for range 3 {
		require.NoError(t, lock.try())
		got := make(chan error, 1)
		go func() { got <- other.Line("x").Wait(t.Context(), lock.try) }()
		require.Eventually(t, func() bool { return !q.Line("x").Empty() }, time.Minute, time.Millisecond)
		require.NoError(t, os.Remove(q.path))
		lock.unlock()
		require.NoError(t, <-got, "who waits by the old file")
		lock.unlock()
		require.Eventually(t, q.Line("x").Empty, time.Minute, time.Millisecond)
	}
}

// Without tickets, waiters poll.
func TestNoTickets(t *testing.T) {
	t.Parallel()
	opens := map[string]func() (*os.File, error){
		"cannot be opened": func() (*os.File, error) { return nil, io.ErrUnexpectedEOF },
		"no file":          func() (*os.File, error) { return os.Open(t.TempDir()) },
		"read only": func() (*os.File, error) {
			path := filepath.Join(t.TempDir(), "tickets")
			return os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o600)
		},
	}
	for name, open := range opens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "there")
			require.NoError(t, os.WriteFile(path, nil, 0o600))
			synctest.Test(t, func(t *testing.T) { noTickets(t, NewQueue(path, open)) })
		})
	}
}

func noTickets(t *testing.T, q *Queue) {
	lock := &aLock{}
	defer q.Close()
	require.NoError(t, lock.try())
	time.AfterFunc(30*time.Millisecond, lock.unlock)
	require.NoError(t, q.Line("x").Wait(t.Context(), lock.try))
	q.pace.limit = 20 * time.Millisecond
	require.ErrorIs(t, q.Line("x").Wait(t.Context(), lock.try), ErrBusy)
}

func TestErrorsEndTheWait(t *testing.T) {
	t.Parallel()
	q := newQueue(t, t.TempDir())
	broken := fmt.Errorf("broken")
	require.Equal(t, broken, q.Line("x").Wait(t.Context(), func() error { return broken }))
	n := 0
	require.Equal(t, broken, q.Line("x").Wait(t.Context(), func() error {
		if n++; n < 3 {
			return ErrBusy
		}
		return broken
	}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := q.Line("x").Wait(ctx, func() error { return broken })
	require.Equal(t, context.Canceled, err, "nothing is tried")
	require.True(t, newQueue(t, filepath.Dir(q.path)).Line("x").Empty())
}

// Empty reports whether the line is known to have no waiters.
func (l Line) Empty() bool {
	empty, err := l.empty()
	return err == nil && empty
}
