package dir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

const part = "s-0123456789abcdef"

func object(name, text string) remote.Object {
	return remote.Object{Name: name, Label: []byte(`{"v":1}`), Body: []byte(text)}
}

func commit(t *testing.T, r *Remote, swap *remote.Swap, objects ...remote.Object) remote.Version {
	t.Helper()
	v, err := r.Commit(t.Context(), part, objects, swap)
	require.NoError(t, err)
	return v
}

func text(t *testing.T, r *Remote, name string) string {
	t.Helper()
	o, err := r.Get(t.Context(), part, name, "")
	require.NoError(t, err)
	return string(o.Body)
}

// reopened opens the remote once more, as another device does.
func reopened(t *testing.T, place string, s *seam.Seam) *Remote {
	t.Helper()
	r, err := open(place, s)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

// leads checks that the head leads to objects that are whole: its text is how many of them there
// are, which are numbered.
func leads(t *testing.T, r *Remote, about any) (n int) {
	t.Helper()
	o, err := r.Get(t.Context(), part, "head", "")
	if errors.Is(err, remote.ErrNotExist) {
		return 0
	}
	require.NoError(t, err, about)
	_, err = fmt.Sscan(string(o.Body), &n)
	require.NoError(t, err, about)
	for i := range n {
		require.Equal(t, fmt.Sprint("text ", i), text(t, r, fmt.Sprint("o-", i)), about)
	}
	for _, err := range r.List(t.Context(), part, remote.Query{}) {
		require.NoError(t, err, about)
	}
	return n
}

// turn stores the object n, and a head that leads to it too.
func turn(ctx context.Context, r *Remote, n int) error {
	o, err := r.Get(ctx, part, "head", "")
	if err != nil && !errors.Is(err, remote.ErrNotExist) {
		return err
	}
	swap := &remote.Swap{Object: object("head", fmt.Sprint(n+1)), If: o.Version, Remove: []string{fmt.Sprint("stray-", n)}}
	_, err = r.Commit(ctx, part, []remote.Object{object(fmt.Sprint("o-", n), fmt.Sprint("text ", n))}, swap)
	return err
}

// TestKilled ends a process before each step of a turn. Another device finds the head before it
// or after it, and sends the turn.
func TestKilled(t *testing.T) {
	t.Parallel()
	for _, links := range []bool{true, false} {
		for step, whole := 0, false; !whole; step++ {
			place := filepath.Join(t.TempDir(), "remote")
			require.NoError(t, Provision(t.Context(), place))
			other := reopened(t, place, nil)
			commit(t, other, &remote.Swap{Object: object("head", "0")}, object("stray-0", ""))
			failer := &crashsim.Failer{At: -1}
			r := reopened(t, place, &seam.Seam{Before: failer.Before})
			r.links = links
			*failer = crashsim.Failer{At: step, Err: syscall.EIO, Stays: true}
			err := turn(t.Context(), r, 0)
			_, refused := failer.Failed()
			whole = !refused
			n := leads(t, other, step)
			if err == nil {
				require.Equal(t, 1, n, step)
			}
			if n == 0 {
				require.NoError(t, turn(t.Context(), other, 0), step)
				require.Equal(t, 1, leads(t, other, step))
			}
			require.True(t, whole || step < 20, "no end of steps")
		}
	}
}

// TestPowerCut cuts the power of the file server after each step of some turns. What was
// acknowledged is there, and the head leads to objects that are whole.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	base := testenv.Scratch(t)
	place := filepath.Join(base, "remote")
	require.NoError(t, Provision(t.Context(), place))
	recorder, err := crashsim.Record(base)
	require.NoError(t, err)
	r := reopened(t, place, &seam.Seam{After: recorder.After})
	const turns = 2
	for n := range turns {
		require.NoError(t, turn(t.Context(), r, n))
		recorder.Acknowledge()
	}
	log, err := recorder.Log()
	require.NoError(t, err)
	tally := &crashsim.Tally{}
	crash := &crashsim.Crash{Log: log, Max: 200}
	for state, err := range crash.States(tally) {
		require.NoError(t, err)
		dir := filepath.Join(testenv.Scratch(t), "state")
		require.NoError(t, state.Materialise(dir))
		after := reopened(t, filepath.Join(dir, "remote"), nil)
		n := leads(t, after, state)
		require.GreaterOrEqual(t, n, state.Acked, state)
		if n < turns {
			require.NoError(t, turn(t.Context(), after, n), state)
		}
	}
	t.Log(tally)
}

// TestLostAnswer is a file server that made a link of which it says that it failed, and of
// which it says that it exists.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	for _, said := range []error{syscall.EIO, syscall.EEXIST} {
		r := provisioned(t)
		commit(t, r, &remote.Swap{Object: object("head", "0")})
		lost := reopened(t, r.Path(), &seam.Seam{Before: func(op seam.Op) error {
			if op.Kind != seam.Link || op.To != numbered(2) {
				return nil
			}
			require.NoError(t, os.Link(filepath.Join(op.Dir, op.Name), filepath.Join(op.Dir, op.To)))
			return said
		}})
		require.NoError(t, turn(t.Context(), lost, 0))
		require.Equal(t, 1, leads(t, r, said))
	}
}

// TestSlept lets a device sleep before its number is taken: others go on, for so long that the
// number is free again. And it sleeps after that: others go on from what it stored.
func TestSlept(t *testing.T) {
	t.Parallel()
	r := provisioned(t)
	commit(t, r, &remote.Swap{Object: object("head", "0")})
	asleep := func(kind seam.Kind, meanwhile func()) *Remote {
		once := true
		during := func(op seam.Op) {
			if op.Kind == kind && filepath.Base(op.Dir) == "f-head" && once {
				once = false
				meanwhile()
			}
		}
		return reopened(t, r.Path(), &seam.Seam{Before: func(op seam.Op) error { during(op); return nil }})
	}
	first := asleep(seam.Link, func() {
		for n := range kept + 10 {
			require.NoError(t, turn(t.Context(), r, n))
		}
		head := filepath.Join(r.Path(), "p-"+part, "f-head")
		for n := uint64(1); n < 9; n++ { // as if it had been hours
			require.NoError(t, os.Remove(filepath.Join(head, numbered(n))))
		}
	})
	o, err := first.Get(t.Context(), part, "head", "")
	require.NoError(t, err)
	_, err = first.Commit(t.Context(), part, nil, &remote.Swap{Object: object("head", "lost"), If: o.Version})
	require.ErrorIs(t, err, remote.ErrChanged)
	require.Equal(t, kept+10, leads(t, r, "after a sleep before the link"))

	second := asleep(seam.SyncDir, func() {
		require.NoError(t, turn(t.Context(), r, kept+11))
	})
	require.NoError(t, turn(t.Context(), second, kept+10))
	require.Equal(t, kept+12, leads(t, r, "after a sleep behind the link"))
}

// TestHung is a file server that does not answer.
func TestHung(t *testing.T) {
	t.Parallel()
	r := provisioned(t)
	commit(t, r, &remote.Swap{Object: object("head", "0")})
	reached, release := make(chan struct{}), make(chan struct{})
	hung := reopened(t, r.Path(), &seam.Seam{Before: func(op seam.Op) error {
		if op.Kind == seam.Link && op.To == numbered(2) {
			close(reached)
			<-release
		}
		return nil
	}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- turn(ctx, hung, 0) }()
	<-reached
	cancel()
	err := <-done
	require.ErrorIs(t, err, remote.ErrUnknown)
	require.ErrorIs(t, err, context.Canceled)
	close(release)
	hung.work.Wait()
	require.Equal(t, 1, leads(t, r, "what had begun was done"))
}

// TestDeadMount is a file server that answers nothing for a long time. Calls end as package hybrid
// ends them; after four of them nothing is asked any more, until it answers.
func TestDeadMount(t *testing.T) {
	t.Parallel()
	r := provisioned(t)
	commit(t, r, &remote.Swap{Object: object("head", "0")})
	reached, release := make(chan struct{}), make(chan struct{})
	hung := reopened(t, r.Path(), &seam.Seam{Before: func(op seam.Op) error {
		if op.Kind == seam.Link && op.To == numbered(2) {
			reached <- struct{}{}
			<-release
		}
		return nil
	}})
	for range maxLeft {
		ctx, end := context.WithCancelCause(t.Context())
		done := make(chan error)
		go func() { done <- turn(ctx, hung, 0) }()
		<-reached
		end(remote.NoAnswer(1))
		require.ErrorIs(t, <-done, remote.NoAnswer(1))
	}
	calls := map[string]func() error{
		"turn":   func() error { return turn(t.Context(), hung, 0) },
		"get":    func() error { _, err := hung.Get(t.Context(), part, "head", ""); return err },
		"delete": func() error { return hung.Delete(t.Context(), part, []string{"none"}) },
		"list": func() (err error) {
			for _, err = range hung.List(t.Context(), part, remote.Query{}) {
			}
			return err
		},
	}
	for name, call := range calls {
		err := call()
		require.ErrorIs(t, err, remote.ErrUnreachable, name)
		require.ErrorContains(t, err, "mount")
	}
	info, err := hung.Info(t.Context())
	require.NoError(t, errors.Join(err, nil), "the time is known")
	require.Equal(t, r.identity, info.Identity)
	close(release)
	hung.work.Wait()
	require.Eventually(t, func() bool { return hung.leave(0) == nil }, time.Minute, time.Millisecond)
	require.NoError(t, calls["get"]())
	require.Equal(t, 1, leads(t, r, "one of them was first"))
}

// TestMountedAgain is a directory that was unmounted, and mounted again elsewhere: what had it open
// does not reach it any more. While another one is there, or none, it cannot be reached.
func TestMountedAgain(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOOS != "windows", "Windows renames no directory that is open")
	place := filepath.Join(t.TempDir(), "remote")
	require.NoError(t, Provision(t.Context(), place))
	fails := error(nil)
	r := reopened(t, place, &seam.Seam{Before: func(seam.Op) error { return fails }})
	require.NoError(t, turn(t.Context(), r, 0))
	fails = syscall.ENOTCONN
	require.ErrorIs(t, turn(t.Context(), r, 1), remote.ErrUnreachable)
	fails = nil
	away := place + "-away"
	require.NoError(t, os.Rename(place, away))
	require.ErrorIs(t, turn(t.Context(), r, 1), remote.ErrUnreachable)
	require.NoError(t, Provision(t.Context(), place))
	require.ErrorIs(t, turn(t.Context(), r, 1), remote.ErrUnreachable)
	require.NoError(t, os.RemoveAll(place))
	require.NoError(t, os.CopyFS(place, os.DirFS(away)))
	require.NoError(t, os.RemoveAll(away))
	require.NoError(t, turn(t.Context(), r, 1))
	require.Equal(t, 2, leads(t, reopened(t, place, nil), "mounted again"))
}
