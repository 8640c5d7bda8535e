package cosmos

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// TestLimitIsNotSequential stores documents at a server that takes its time, with
// a limit that has room for several of them at once.
func TestLimitIsNotSequential(t *testing.T) {
	t.Parallel()
	synctest.Test(t, storeLimited)
}

func storeLimited(t *testing.T) {
	const limit = 200
	var mu sync.Mutex // guards what follows
	spent, most := map[int64]float64{}, 0.0
	srv := cosmostest.New(&cosmostest.Options{Observe: func(r cosmostest.Record) {
		mu.Lock()
		defer mu.Unlock()
		spent[r.At.Unix()] += r.Charge
		most = max(most, r.Charge)
	}})
	client := connect(t, srv)
	client.Budget = NewBudget(limit, nil)
	srv.Inject(cosmostest.Data(cosmostest.Always(cosmostest.Delay(time.Second))))
	clear(spent) // what it took to make the container
	const documents, workers = 60, 10
	start := time.Now()
	var work sync.WaitGroup
	for w := range workers {
		work.Go(func() {
			for n := range documents / workers {
				a := client.batch(t.Context(), "p", put(fmt.Sprint(w, "-", n)))
				require.NoError(t, a.Err)
			}
		})
	}
	work.Wait()
	require.Less(t, time.Since(start), documents*time.Second/4, "one after the other it takes a minute")
	for at, sum := range spent {
		require.LessOrEqual(t, sum, limit+most, "second %d", at)
	}
}

// TestRateEnds throttles one request. The ones after it are made slowly, and a time
// later as before.
func TestRateEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := cosmostest.New(nil)
		c := connect(t, srv)
		took := func() time.Duration {
			start := time.Now()
			for n := range 10 {
				require.NoError(t, c.batch(t.Context(), "p", put(fmt.Sprint(n))).Err)
			}
			return time.Since(start)
		}
		require.Zero(t, took())
		time.Sleep(time.Minute)
		srv.Inject(cosmostest.Data(cosmostest.At(1, cosmostest.Refuse(429, time.Millisecond))))
		require.Greater(t, took(), time.Second)
		time.Sleep(rateLasts / 2)
		require.Greater(t, took(), time.Second)
		time.Sleep(rateLasts / 2)
		require.Zero(t, took(), "what the account said lies back for longer")
	})
}

// TestLateErrorsTellWhy waits for an account that gave no answer, not long enough or
// longer than a request may wait: both errors tell why.
func TestLateErrorsTellWhy(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]error{patience / 2: context.DeadlineExceeded, 2 * patience: ErrUnreachable} {
		synctest.Test(t, func(t *testing.T) {
			b := NewBudget(0, nil)
			require.NoError(t, b.admit(t.Context(), 1))
			b.learn(Answer{Class: Unknown, Err: fmt.Errorf("%w: the reason", ErrUnreachable), wait: wait}, 1, 0)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			err := b.admit(ctx, 1)
			require.ErrorIs(t, err, want)
			require.ErrorContains(t, err, "the reason")
		})
	}
}

// TestReopenAfterSeveralAnswers has requests under way at once, of which the account
// refuses one and asks another to wait, in both orders. [Budget.Reopen] lets a
// request go after that wait: the refusal is not what the account asked for.
func TestReopenAfterSeveralAnswers(t *testing.T) {
	t.Parallel()
	const short = 5 * time.Millisecond
	refused := Answer{Class: Denied, Err: fmt.Errorf("%w: status 401", ErrBlocked)}
	busy := Answer{Class: Unknown, Err: fmt.Errorf("%w: status 503", ErrUnreachable), wait: short}
	silent := Answer{Class: Unknown, Err: fmt.Errorf("%w: no answer", ErrUnreachable)}
	for name, tt := range map[string]struct {
		answers []Answer
		waits   time.Duration
	}{
		"refused":              {[]Answer{refused}, 0},
		"silent":               {[]Answer{silent, silent, silent}, 0},
		"busy":                 {[]Answer{busy}, short},
		"refused, busy":        {[]Answer{refused, busy}, short},
		"busy, refused":        {[]Answer{busy, refused}, short},
		"refused, silent":      {[]Answer{refused, silent}, 0},
		"silent, busy":         {[]Answer{silent, busy}, short},
		"busy, silent":         {[]Answer{busy, silent}, short},
		"refused, busy, again": {[]Answer{refused, busy, refused}, short},
		"busy, fine":           {[]Answer{busy, {Failed: -1}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := NewBudget(0, nil)
				for range tt.answers {
					require.NoError(t, b.admit(t.Context(), 1))
				}
				for _, a := range tt.answers {
					b.learn(a, 1, 0)
				}
				start := time.Now()
				b.Reopen()
				require.NoError(t, b.admit(t.Context(), 1))
				require.Equal(t, tt.waits, time.Since(start))
				b.learn(Answer{Failed: -1}, 1, 0)
				require.NoError(t, b.admit(t.Context(), 1))
				require.Equal(t, tt.waits, time.Since(start))
			})
		})
	}
}
