package throttle

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// TestLimitIsNotSequential stores objects at a remote that takes its time, with
// a limit that has room for several of them at once.
func TestLimitIsNotSequential(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit, objects, workers = 200, 60, 10
		o := remote.Object{Label: []byte("{}"), Body: []byte(strings.Repeat("x", 60<<10))}
		f := &fake{takes: time.Second, units: WriteUnits(o.Size(), false)}
		r := New(f, NewBudget(limit, nil), nil)
		start := time.Now()
		var work sync.WaitGroup
		for w := range workers {
			work.Go(func() {
				for n := range objects / workers {
					mine := o
					mine.Name = fmt.Sprint(w, "-", n)
					_, err := r.Commit(t.Context(), "p", []remote.Object{mine}, nil)
					require.NoError(t, err)
				}
			})
		}
		work.Wait()
		require.Less(t, time.Since(start), objects*time.Second/4, "one after the other it takes a minute")
		total := 0.0
		for at, sum := range f.spent {
			require.LessOrEqual(t, sum, limit+f.units, "second %d", at)
			total += sum
		}
		require.InDelta(t, objects*f.units, total, 0.1)
	})
}

// TestLimitOfAList reads pages of which each costs what a second may: one a second is asked for.
func TestLimitOfAList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit, pages = 100, 10
		f := &fake{}
		fill(t, f, 10*pages)
		f.units, f.pages = limit, 10
		start := time.Now()
		require.Len(t, namesOf(t, New(f, NewBudget(limit, nil), nil)), 10*pages)
		require.InDelta(t, pages-1, time.Since(start).Seconds(), 1.5)
		for at, sum := range f.spent {
			require.LessOrEqual(t, sum, 2.0*limit, "second %d", at)
		}
		start = time.Now()
		require.Len(t, namesOf(t, New(f, NewBudget(0, nil), nil)), 10*pages)
		require.Zero(t, time.Since(start))
	})
}

// TestUnitsAreGivenBack makes calls that cost less than is expected of them.
func TestUnitsAreGivenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := New(&fake{units: 1}, NewBudget(expectedRead, nil), nil)
		start := time.Now()
		for range 10 * expectedRead {
			require.NoError(t, get(t.Context(), r))
		}
		require.InDelta(t, 10, time.Since(start).Seconds(), 0.5)
	})
}

// TestUnitsAreTold tells the observer of the caller of each request.
func TestUnitsAreTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{units: 3, fails: times(2, unreachable(remote.Failed, 0))}
		told := 0.0
		b := NewBudget(0, nil)
		b.hear()
		require.NoError(t, get(remote.Observed(t.Context(), func(r remote.Request) { told += r.Units }), New(f, b, nil)))
		require.InDelta(t, 9, told, 0)
	})
}

// TestRateEnds throttles one call. The ones after it are made slowly, and a time
// later as before.
func TestRateEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		r := New(f, NewBudget(0, nil), nil)
		took := func() time.Duration {
			start := time.Now()
			for range 10 {
				require.NoError(t, put(t.Context(), r))
			}
			return time.Since(start)
		}
		require.Zero(t, took())
		time.Sleep(time.Minute)
		at := f.made() + 1
		f.fails = func(n int) outcome {
			if n == at {
				return outcome{err: unreachable(remote.Throttled, time.Millisecond)}
			}
			return outcome{}
		}
		require.Greater(t, took(), time.Second)
		time.Sleep(rateLasts / 2)
		require.Greater(t, took(), time.Second)
		time.Sleep(rateLasts / 2)
		require.Zero(t, took(), "what the remote said lies back for longer")
	})
}

// TestLateErrorsTellWhy waits for a remote that gave no answer, not long enough or
// longer than a call may wait: both errors tell why.
func TestLateErrorsTellWhy(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]error{patience / 2: context.DeadlineExceeded, 2 * patience: remote.ErrUnreachable} {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{fails: times(1, unreachable(remote.Failed, wait))}
			b := NewBudget(0, nil)
			b.hear()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			err := get(ctx, New(f, b, nil))
			require.ErrorIs(t, err, want)
			require.ErrorContains(t, err, "the reason")
			require.Equal(t, 1, f.made())
		})
	}
}

// TestReopenAfterSeveralAnswers has calls under way at once, of which the remote
// refuses one and asks another to wait, in both orders. [Budget.Reopen] lets a
// call go after that wait: the refusal is not what the remote asked for.
func TestReopenAfterSeveralAnswers(t *testing.T) {
	t.Parallel()
	const short = 5 * time.Millisecond
	refused := fmt.Errorf("%w: status 401", remote.ErrBlocked)
	busy := unreachable(remote.Failed, short)
	silent := unreachable(remote.Failed, 0)
	for name, tt := range map[string]struct {
		answers []error
		waits   time.Duration
	}{
		"refused":              {[]error{refused}, 0},
		"silent":               {[]error{silent, silent, silent}, 0},
		"busy":                 {[]error{busy}, short},
		"refused, busy":        {[]error{refused, busy}, short},
		"busy, refused":        {[]error{busy, refused}, short},
		"refused, silent":      {[]error{refused, silent}, 0},
		"silent, busy":         {[]error{silent, busy}, short},
		"busy, silent":         {[]error{busy, silent}, short},
		"refused, busy, again": {[]error{refused, busy, refused}, short},
		"busy, fine":           {[]error{busy, nil}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := NewBudget(0, nil)
				b.hear()
				for range tt.answers {
					require.NoError(t, b.admit(t.Context(), 1))
				}
				for _, err := range tt.answers {
					b.learn(&try{units: 1}, err, troubleOf(err))
				}
				start := time.Now()
				b.Reopen()
				require.NoError(t, b.admit(t.Context(), 1))
				require.Equal(t, tt.waits, time.Since(start))
				b.learn(&try{units: 1}, nil, nil)
				require.NoError(t, b.admit(t.Context(), 1))
				require.Equal(t, tt.waits, time.Since(start))
			})
		})
	}
}

// TestOutcomes makes a call with each outcome, and another one some time later: the time tells
// when the remote is asked again.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	const second = time.Second
	for name, tt := range map[string]struct {
		err   error
		asked time.Duration // again after this, and not before; 0: at once
		is    error         // of a call before
	}{
		"missing":            {remote.ErrNotExist, 0, nil},
		"unchanged":          {remote.ErrUnchanged, 0, nil},
		"changed":            {fmt.Errorf("%w: 412", remote.ErrChanged), 0, nil},
		"too large":          {fmt.Errorf("%w: 413", remote.ErrTooLarge), 0, nil},
		"full":               {fmt.Errorf("%w: 403", remote.ErrFull), 0, nil},
		"this one refused":   {fmt.Errorf("%w: 400", remote.ErrRefused), 0, nil},
		"an error of disks":  {errors.New("input/output error"), 0, nil},
		"blocked":            {fmt.Errorf("%w: 401", remote.ErrBlocked), blockedFor, remote.ErrBlocked},
		"clock":              {fmt.Errorf("%w: %w", remote.ErrBlocked, remote.ErrClock), blockedFor, remote.ErrClock},
		"unauthorized":       {fmt.Errorf("%w: 403", remote.ErrUnauthorized), rolePause, remote.ErrUnauthorized},
		"asks to wait":       {unknown(unreachable(remote.Failed, 20*second)), 20 * second, remote.ErrUnreachable},
		"asks to wait long":  {unknown(unreachable(remote.Failed, time.Hour)), time.Hour, remote.ErrUnreachable},
		"nothing there":      {unknown(unreachable(remote.Away, 0)), awayFor, remote.ErrUnreachable},
		"a stale connection": {unknown(unreachable(remote.Stale, 0)), 0, nil},
		"no answer in time":  {remote.NoAnswer(awayFor), awayFor, remote.ErrUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f, b := &fake{}, NewBudget(0, nil)
				r := New(f, b, nil)
				require.NoError(t, get(t.Context(), r)) // the remote has answered before
				time.Sleep(awayFor)
				f.fails = func(int) outcome { return outcome{err: tt.err} }
				_, err := r.Commit(t.Context(), "p", nil, swapOf("head"))
				require.ErrorIs(t, err, tt.err)
				require.Equal(t, 2, f.made())
				f.fails = nil
				if tt.asked > 0 {
					start := time.Now()
					require.ErrorIs(t, get(t.Context(), r), tt.is)
					require.Zero(t, time.Since(start))
					require.Equal(t, start.Add(tt.asked), b.Opens())
					time.Sleep(tt.asked - time.Second)
					ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
					defer cancel()
					require.Error(t, get(ctx, r))
					require.Equal(t, 2, f.made())
					time.Sleep(time.Until(start.Add(tt.asked)))
				}
				start := time.Now()
				require.NoError(t, get(t.Context(), r))
				require.Zero(t, time.Since(start))
				require.Equal(t, 3, f.made())
			})
		})
	}
}

// fill stores n objects.
func fill(t *testing.T, r remote.Remote, n int) {
	t.Helper()
	for i := range n {
		_, err := r.Commit(t.Context(), "p", named(fmt.Sprintf("d%03d", i)), nil)
		require.NoError(t, err)
	}
}

func namesOf(t *testing.T, r remote.Remote) (names []string) {
	t.Helper()
	for o, err := range r.List(t.Context(), "p", remote.Query{}) {
		require.NoError(t, err)
		names = append(names, o.Name)
	}
	return names
}
