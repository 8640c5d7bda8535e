package slice_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// A system is what the store runs on.
type system struct {
	name               string
	noExchange, noLink bool
}

var systems = []system{{name: "plain"}, {name: "no exchange", noExchange: true}, {name: "no links", noLink: true}, {name: "neither", noExchange: true, noLink: true}}

func (s system) seam(before func(seam.Op) error, after func(seam.Op)) *seam.Seam {
	return &seam.Seam{After: after, Before: func(op seam.Op) error {
		if op.Kind == seam.Exchange && s.noExchange || op.Kind == seam.Link && s.noLink {
			return errors.ErrUnsupported
		}
		if before == nil {
			return nil
		}
		return before(op)
	}}
}

// TestFaults lets every operation of every call fail in turn (one in three
// without [testenv.Long]): for once, for
// good, and in the middle of a write. What is there then is the state before
// or after, the copies are whole, and the call can be made again.
func TestFaults(t *testing.T) {
	t.Parallel()
	fork, step := forked(t), testenv.Share(3, 3, 1)
	for _, s := range scenes() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			points, r := 0, testenv.Rand(t)
			for _, sys := range systems {
				for _, f := range []*crashsim.Failer{
					{Err: syscall.EIO}, {Err: syscall.EIO, Part: 50}, {Err: syscall.EIO, Stays: true}, {Err: syscall.ENOSPC, Stays: true, Part: 50},
				} {
					if sys.name != "plain" && f.Stays {
						continue
					}
					for at := r.IntN(step); s.fails(t, sys, &crashsim.Failer{At: at, Err: f.Err, Part: f.Part, Stays: f.Stays}, fork); at += step {
						points++
					}
				}
			}
			fmt.Printf("%s: %d points\n", t.Name(), points)
			require.Greater(t, points, 50/step)
		})
	}
}

// fails plays the scene with one failure, and reports whether there was one.
func (s scene) fails(t *testing.T, sys system, failer *crashsim.Failer, fork map[string]string) bool {
	t.Helper()
	dir := testenv.Scratch(t)
	defer func() { require.NoError(t, os.RemoveAll(dir)) }()
	plain := openFaulty(t, dir, sessionstore.Durable, nil)
	s.prepare(t, plain)
	require.NoError(t, plain.Close())

	st := openFaulty(t, dir, sessionstore.Durable, sys.seam(failer.Before, nil))
	err := s.act(t.Context(), st)
	closeErr := st.Close()
	op, failed := failer.Failed()
	place := fmt.Sprintf("%s: %s %s: %v, call: %v, close: %v", sys.name, op.Kind, op.Name, failer.Err, err, closeErr)
	now := findAll(t, dir)
	require.Empty(t, s.wrong(now, fork, err == nil), place)
	halfSwapped := sys.noExchange && (op.Kind == seam.Rename || op.Kind == seam.SyncDir) // the last copy may have that name
	if op.Kind != seam.Remove && !failer.Stays && !halfSwapped {
		require.Empty(t, leftovers(now.parent), place)
	}
	s.again(t, sys, dir, now, fork, place)
	return failed
}

// again makes the call once more, of which nothing fails.
func (s scene) again(t *testing.T, sys system, dir string, now found, fork map[string]string, place string) {
	t.Helper()
	st := openFaulty(t, dir, sessionstore.Durable, nil)
	err := s.act(t.Context(), st)
	if s.name == "fork" && now.child != nil {
		require.ErrorIs(t, err, fs.ErrExist, place)
	} else {
		require.NoError(t, err, place)
	}
	require.NoError(t, st.Close())
	last := findAll(t, dir)
	require.Equal(t, s.rows[1], last.rows, place)
	if s.name == "fork" {
		require.Equal(t, fork, last.child, place)
	} else if now.rows == s.rows[0] && !sys.noExchange { // else there was nothing to do, or half an exchange is left
		require.Empty(t, leftovers(last.parent), place)
	}
}

// TestPowerCuts cuts the power after every operation of every call.
func TestPowerCuts(t *testing.T) {
	t.Parallel()
	fork := forked(t)
	limit := testenv.Share(40, 40, testenv.Further(300, 1000))
	for _, s := range scenes() {
		for _, sys := range systems {
			for _, ordered := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/ordered=%t", s.name, sys.name, ordered), func(t *testing.T) {
					t.Parallel()
					log := s.record(t, sys)
					var tally crashsim.Tally
					crash := &crashsim.Crash{Log: log, Seed: testenv.Seed(t), Max: limit, Ordered: ordered}
					base := testenv.Scratch(t)
					for state, err := range crash.States(&tally) {
						require.NoError(t, err)
						dir := filepath.Join(base, "d")
						require.NoError(t, state.Materialise(dir))
						now := findAll(t, dir)
						require.Empty(testenv.Lost(t), s.wrong(now, fork, state.Acked > 0), state.String())
						if tally.States%10 == 0 {
							s.again(t, sys, dir, now, fork, state.String())
						}
						require.NoError(t, os.RemoveAll(dir))
					}
					require.Greater(t, tally.States, 20)
					t.Log(tally)
				})
			}
		}
	}
}

// record records what the call does to the disk.
func (s scene) record(t *testing.T, sys system) *crashsim.Log {
	t.Helper()
	dir := testenv.Scratch(t)
	plain := openFaulty(t, dir, sessionstore.Durable, nil)
	s.prepare(t, plain)
	require.NoError(t, plain.Close())
	rec, err := crashsim.Record(dir)
	require.NoError(t, err)
	st := openFaulty(t, dir, sessionstore.Durable, sys.seam(nil, rec.After))
	require.NoError(t, s.act(t.Context(), st))
	rec.Acknowledge()
	require.NoError(t, st.Close())
	require.NoError(t, rec.Verify(func(path string) bool { return strings.HasSuffix(path, ".lock") }))
	log, err := rec.Log()
	require.NoError(t, err)
	return log
}
