package throttle

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote/remotetest"
)

func TestRemote(t *testing.T) {
	t.Parallel()
	remotetest.Run(t, func(*testing.T) remote.Remote { return New(&memremote.Remote{}, NewBudget(0, nil), nil) })
}

// TestRetries counts how often each method is called while the remote fails, in each way.
func TestRetries(t *testing.T) {
	t.Parallel()
	busy, failed := unreachable(remote.Throttled, time.Millisecond), unreachable(remote.Failed, 0)
	methods := map[string]func(ctx context.Context, r remote.Remote) error{
		"Get":    get,
		"List":   func(ctx context.Context, r remote.Remote) error { return last(ctx, r) },
		"Commit": put,
		"Delete": func(ctx context.Context, r remote.Remote) error { return r.Delete(ctx, "p", []string{"a"}) },
		"swap": func(ctx context.Context, r remote.Remote) error {
			_, err := r.Commit(ctx, "p", nil, swapOf("b"))
			return err
		},
		"Commit with a swap": func(ctx context.Context, r remote.Remote) error {
			_, err := r.Commit(ctx, "p", named("a"), swapOf("b"))
			return err
		},
	}
	for name, tt := range map[string]struct {
		err          error
		fails        int // the first ones
		made, swaps  int // calls; of those that swap
		fine, swaped bool
	}{
		"throttled twice":         {busy, 2, 3, 3, true, true},
		"always throttled":        {busy, 99, 4, 4, false, false},
		"throttled, not known":    {unknown(busy), 1, 2, 1, true, false},
		"unreachable once":        {failed, 1, 2, 1, true, false},
		"always unreachable":      {failed, 99, 4, 1, false, false},
		"no more than that":       {remote.ErrUnreachable, 1, 2, 1, true, false},
		"asks to wait":            {unreachable(remote.Failed, time.Second), 3, 4, 1, true, false},
		"a stale connection":      {unreachable(remote.Stale, 0), 3, 4, 1, true, false},
		"unknown":                 {remote.ErrUnknown, 1, 2, 1, true, false},
		"unknown and unreachable": {unknown(failed), 1, 2, 1, true, false},
		"asks to wait for long":   {unreachable(remote.Throttled, time.Hour), 99, 1, 1, false, false},
		"nothing there":           {unreachable(remote.Away, 0), 99, 1, 1, false, false},
		"no answer in time":       {remote.NoAnswer(time.Minute), 99, 1, 1, false, false},
		"blocked":                 {remote.ErrBlocked, 1, 1, 1, false, false},
		"refused":                 {remote.ErrRefused, 1, 1, 1, false, false},
		"unauthorized":            {remote.ErrUnauthorized, 1, 1, 1, false, false},
		"full":                    {remote.ErrFull, 1, 1, 1, false, false},
		"too large":               {remote.ErrTooLarge, 1, 1, 1, false, false},
		"changed":                 {remote.ErrChanged, 1, 1, 1, false, false},
		"another error":           {errors.New("input/output error"), 1, 1, 1, false, false},
	} {
		for method, call := range methods {
			t.Run(name+" "+method, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					f := &fake{}
					r := New(f, NewBudget(0, nil), nil)
					require.NoError(t, get(t.Context(), r)) // the remote has answered before
					time.Sleep(time.Hour)
					f.fails = func(n int) outcome { return times(tt.fails, tt.err)(n - 1) }
					made, fine := tt.made, tt.fine
					if method == "swap" || method == "Commit with a swap" {
						made, fine = tt.swaps, tt.swaped
					}
					err := call(t.Context(), r)
					require.Equal(t, made, f.made()-1)
					if fine {
						require.NoError(t, err)
						return
					}
					want := tt.err
					if made < tt.fails && made == 1 && errors.Is(err, remote.ErrUnreachable) && !errors.Is(err, want) {
						want = remote.ErrUnreachable
					}
					require.ErrorIs(t, err, want)
				})
			})
		}
	}
}

// last returns how a list of all ends.
func last(ctx context.Context, r remote.Remote) (err error) {
	for _, err = range r.List(ctx, "p", remote.Query{}) {
	}
	return err
}

// TestSwapIsMadeOnce loses the answers of swaps that were made, in all ways in which a remote
// may tell that: none is made again, so each is made, and its caller knows that it may be.
func TestSwapIsMadeOnce(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		unknown(unreachable(remote.Failed, 0)), unknown(unreachable(remote.Stale, 0)), unknown(unreachable(remote.Throttled, time.Millisecond)),
		unknown(unreachable(remote.Away, 0)), unknown(remote.NoAnswer(time.Second)), unknown(errors.New("lost")), remote.ErrUnknown,
		unreachable(remote.Failed, 0), unreachable(remote.Stale, 0), remote.ErrUnreachable,
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{fails: func(n int) outcome { return outcome{err: err, done: true} }}
			_, got := New(f, NewBudget(0, nil), nil).Commit(t.Context(), "p", nil, swapOf("head"))
			require.ErrorIs(t, got, err)
			require.Equal(t, 1, f.made())
			f.fails = nil
			_, err := f.Remote.Get(t.Context(), "p", "head", "")
			require.NoError(t, err)
		})
	}
}

// TestListGoesOn breaks a list off again and again: each name comes once and in order, and the
// list ends when it breaks four times without a row.
func TestListGoesOn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ rows, tries int }{{1, 20}, {7, 3}, {20, 1}} {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{}
			fill(t, f, 20)
			before := f.made()
			f.fails = func(int) outcome { return outcome{err: unreachable(remote.Failed, 0), rows: tt.rows} }
			b := NewBudget(0, nil)
			b.hear()
			list := New(f, b, nil).List(t.Context(), "p", remote.Query{})
			for n := range 2 { // a sequence may be used again
				row := 0
				for o, err := range list {
					require.NoError(t, err)
					require.Equal(t, fmt.Sprintf("d%03d", row), o.Name)
					row++
				}
				require.Equal(t, 20, row)
				require.Equal(t, tt.tries*(n+1), f.made()-before, "%+v", tt)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		f, rows := &fake{}, 0
		fill(t, f, 20)
		before := f.made()
		f.fails = func(n int) outcome {
			if n <= before+2 {
				return outcome{err: unreachable(remote.Failed, 0), rows: 5}
			}
			return outcome{err: unreachable(remote.Failed, 0)}
		}
		b := NewBudget(0, nil)
		b.hear()
		var err error
		for o, failed := range New(f, b, nil).List(t.Context(), "p", remote.Query{Prefix: "d", After: "d001"}) {
			if err = failed; err == nil {
				require.Equal(t, fmt.Sprintf("d%03d", rows+2), o.Name)
				rows++
			}
		}
		require.ErrorIs(t, err, remote.ErrUnreachable)
		require.Equal(t, 10, rows)
		require.Equal(t, 1+maxTries, f.made()-before, "four times in a row")
	})
}

// TestCallsAmidAList makes calls for each row of a list, and stops at some, while the remote
// fails now and then: one call finds out whether it is back, and the list is not that call.
func TestCallsAmidAList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		fill(t, f, 20)
		n := 0
		f.fails = func(int) outcome {
			if n++; n%3 == 0 {
				return outcome{err: unreachable(remote.Failed, 0)}
			}
			return outcome{}
		}
		r := New(f, NewBudget(0, nil), nil)
		rows := 0
		for range 3 {
			for o, err := range r.List(t.Context(), "p", remote.Query{}) {
				require.NoError(t, err)
				_, err = r.Get(t.Context(), "p", o.Name, "")
				require.NoError(t, err)
				if rows++; rows%7 == 0 {
					break
				}
			}
		}
		require.Equal(t, 21, rows)
	})
}

// TestAwayAmidAList has nothing take the connection for more of a list.
func TestAwayAmidAList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, b := &fake{}, NewBudget(0, nil)
		fill(t, f, 20)
		before := f.made()
		f.fails = func(int) outcome { return outcome{err: unreachable(remote.Away, 0), rows: 7} }
		require.ErrorIs(t, last(t.Context(), New(f, b, nil)), remote.ErrUnreachable)
		require.Equal(t, 1, f.made()-before)
		require.ErrorIs(t, b.Away(), remote.ErrUnreachable)
	})
}

// TestLateEndOfAList ends a list long after its rows came: what the remote did since then counts.
func TestLateEndOfAList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		fill(t, f, 1)
		b := NewBudget(0, nil)
		r := New(f, b, nil)
		for _, err := range r.List(t.Context(), "p", remote.Query{}) {
			require.NoError(t, err)
			f.fails = func(int) outcome { return outcome{err: remote.ErrBlocked} }
			require.ErrorIs(t, get(t.Context(), r), remote.ErrBlocked)
		}
		require.True(t, b.Opens().After(time.Now()))
	})
}

// TestOneProbe lets a remote be away while many wait for it: one call finds out whether it is
// back, and the others go then.
func TestOneProbe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{fails: times(1, unreachable(remote.Away, 0)), takes: time.Second}
		r := New(f, NewBudget(0, nil), nil)
		require.ErrorIs(t, get(t.Context(), r), remote.ErrUnreachable)
		require.ErrorIs(t, get(t.Context(), r), remote.ErrUnreachable)
		require.Equal(t, 1, f.made())
		time.Sleep(awayFor)
		var work sync.WaitGroup
		for range 9 {
			work.Go(func() { require.NoError(t, get(t.Context(), r)) })
		}
		time.Sleep(time.Second / 2)
		require.Equal(t, 2, f.made())
		work.Wait()
		require.Equal(t, 10, f.made())
	})
}

// TestFourthFailureIsAway lets a remote that has answered before break off: that may be a
// connection, until it happens four times in a row.
func TestFourthFailureIsAway(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answered bool // before
		heard    bool // each try, before it fails
		err      error
		made     int
		away     bool
	}{
		"new":              {false, false, unreachable(remote.Failed, 0), 1, true},
		"answered":         {true, false, unreachable(remote.Failed, 0), 4, true},
		"answers badly":    {false, true, unreachable(remote.Failed, 0), 4, false},
		"asks to wait":     {false, false, unreachable(remote.Failed, time.Second), 4, false},
		"has too much":     {false, false, unreachable(remote.Throttled, 0), 4, false},
		"stale":            {true, false, unreachable(remote.Stale, 0), 4, false},
		"nothing there":    {true, false, unreachable(remote.Away, 0), 1, true},
		"another answered": {true, true, unreachable(remote.Away, 0), 4, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := NewBudget(0, nil)
				if tt.answered {
					b.hear()
				}
				made := 0
				r := New(&gets{get: func(ctx context.Context) error {
					if made++; tt.heard {
						remote.Heard(ctx)
					}
					return tt.err
				}}, b, nil)
				require.ErrorIs(t, get(t.Context(), r), remote.ErrUnreachable)
				require.Equal(t, tt.made, made)
				require.Equal(t, tt.away, b.Away() != nil)
				require.Equal(t, !tt.away, b.Answers())
			})
		})
	}
}

// TestDeleteInParts removes many objects: a part of them is removed again where that fails.
func TestDeleteInParts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		fill(t, f, 250)
		names, before := namesOf(t, f), f.made()
		b := NewBudget(0, nil)
		b.hear()
		f.fails = func(n int) outcome {
			if n == before+2 || n == before+3 {
				return outcome{err: unreachable(remote.Failed, 0)}
			}
			return outcome{}
		}
		require.NoError(t, New(f, b, nil).Delete(t.Context(), "p", names))
		require.Equal(t, 3+2, f.made()-before)
		require.Empty(t, namesOf(t, f))
	})
}
