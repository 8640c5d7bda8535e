package trash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

var victims = []string{"a", "b", "c"}

// act is one of the things that the trash does with all of the victims.
type act struct {
	name     string
	prepared bool // they are in the trash before
	gone     bool // they may be gone for good, and are afterwards
	do       func(ctx context.Context, st *sessionstore.Store) error
}

var acts = []act{
	{name: "remove", do: remove},
	{name: "restore", prepared: true, do: func(ctx context.Context, st *sessionstore.Store) error {
		all, err := List(ctx, st)
		for _, r := range all {
			restored, rerr := Restore(ctx, st, r, nil)
			err = errors.Join(err, rerr)
			for _, f := range restored.Failed {
				err = errors.Join(err, f.Err)
			}
		}
		return err
	}},
	{name: "empty", prepared: true, gone: true, do: func(ctx context.Context, st *sessionstore.Store) error {
		all, err := List(ctx, st)
		_, eerr := Empty(ctx, st, all)
		return errors.Join(err, eerr)
	}},
}

func remove(ctx context.Context, st *sessionstore.Store) error {
	var there []string
	for _, id := range victims {
		if st.Exists(id) {
			there = append(there, id)
		}
	}
	p, err := NewPlan(ctx, st, there, &Options{Reason: "test"})
	if err != nil {
		return err
	}
	res, err := p.Delete(ctx)
	for _, f := range res.Failed {
		err = errors.Join(err, f.Err)
	}
	return err
}

// prepare makes the victims, and moves them to the trash where the act wants
// that. It returns what they hold.
func (a act) prepare(t *testing.T, dir string) map[string]map[string]string {
	t.Helper()
	st := open(t, dir, nil)
	whole := map[string]map[string]string{}
	for _, id := range victims {
		put(t, st, id, "")
		whole[id] = tree(filepath.Join(dir, id))
	}
	if a.prepared {
		require.NoError(t, remove(t.Context(), st))
	}
	return whole
}

// check finds every victim whole and in one place; done tells that the act was
// acknowledged.
func (a act) check(t *testing.T, dir string, whole map[string]map[string]string, done bool, when string) {
	t.Helper()
	for _, id := range victims {
		found := places(dir, id)
		if len(found) == 0 && a.gone {
			continue
		}
		require.Len(t, found, 1, "%s: session %s", when, id)
		require.Equal(t, whole[id], tree(found[0]), "%s: session %s", when, id)
		if inPlace := found[0] == filepath.Join(dir, id); done {
			require.False(t, a.gone, when)
			require.Equal(t, a.prepared, inPlace, when)
		}
	}
}

// again does the act once more, undisturbed, and then there is nothing in
// doubt: what is not gone can be brought back.
func (a act) again(t *testing.T, dir string, whole map[string]map[string]string, when string) {
	t.Helper()
	st := open(t, dir, nil)
	require.NoError(t, a.do(t.Context(), st), when)
	a.check(t, dir, whole, true, when)
	if a.name == "remove" {
		require.NoError(t, acts[1].do(t.Context(), st), when)
		acts[1].check(t, dir, whole, true, when)
	}
}

// TestFaults lets each operation of each act fail in turn.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, a := range acts {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			points := 0
			for _, stays := range []bool{false, true} {
				for at := 0; ; at++ {
					dir := newSessionsDir(t)
					whole := a.prepare(t, dir)
					f := &crashsim.Failer{At: at, Err: syscall.EIO, Stays: stays, Part: 50}
					err := a.do(t.Context(), open(t, dir, &seam.Seam{Before: f.Before}))
					op, failed := f.Failed()
					when := fmt.Sprintf("operation %d, %s %s", at, op.Kind, op.Name)
					a.check(t, dir, whole, err == nil, when)
					a.again(t, dir, whole, when)
					if !failed {
						require.NoError(t, err)
						break
					}
					points++
				}
			}
			require.Greater(t, points, 5)
		})
	}
}

// TestPowerCuts cuts the power after each operation. A file system with a
// journal makes a directory's move durable as one.
func TestPowerCuts(t *testing.T) {
	t.Parallel()
	for _, a := range acts {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			dir := newSessionsDir(t)
			whole := a.prepare(t, dir)
			rec, err := crashsim.Record(dir)
			require.NoError(t, err)
			require.NoError(t, a.do(t.Context(), open(t, dir, &seam.Seam{After: rec.After})))
			rec.Acknowledge()
			require.NoError(t, rec.Verify(func(path string) bool { return strings.HasSuffix(path, ".lock") }))
			log, err := rec.Log()
			require.NoError(t, err)
			var tally crashsim.Tally
			crash := &crashsim.Crash{Log: log, Seed: 1, Max: 150, Ordered: true}
			for state, err := range crash.States(&tally) {
				require.NoError(t, err)
				dir := newSessionsDir(t)
				require.NoError(t, os.MkdirAll(filepath.Dir(dir), 0o700))
				require.NoError(t, state.Materialise(dir))
				a.check(t, dir, whole, state.Acked > 0, state.String())
				if tally.States%5 == 0 {
					a.again(t, dir, whole, state.String())
				}
			}
			require.Greater(t, tally.States, 5)
			t.Log(tally)
		})
	}
}

// killedAt does an act and kills itself before an operation: "name number".
func killedAt(dir, argument string) error {
	name, number, _ := strings.Cut(argument, " ")
	at, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	done := 0
	st, err := core.Open(dir, nil, &seam.Seam{Before: func(seam.Op) error {
		if done++; done > at {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			if err != nil {
				return err
			}
			select {}
		}
		return nil
	}})
	if err != nil {
		return err
	}
	for _, a := range acts {
		if a.name == name {
			err = a.do(context.Background(), st)
		}
	}
	if err = errors.Join(err, st.Close()); err != nil {
		return err
	}
	fmt.Println("done", done)
	return nil
}

// TestKills kills a process before each operation of each act.
func TestKills(t *testing.T) {
	t.Parallel()
	for _, a := range acts {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			step := testenv.Share(7, 3, 1)
			for at := 0; ; at += step {
				dir := newSessionsDir(t)
				whole := a.prepare(t, dir)
				line, done := testenv.Spawn(t, "killed", dir, fmt.Sprint(a.name, " ", at)).Line()
				when := fmt.Sprint("killed before operation ", at)
				a.check(t, dir, whole, done, when)
				a.again(t, dir, whole, when)
				if done {
					require.True(t, strings.HasPrefix(line, "done "))
					require.Positive(t, at, "nothing was killed")
					break
				}
			}
		})
	}
}
