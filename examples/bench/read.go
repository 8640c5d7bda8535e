package main

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// reading prepares the session of the arguments N REPS and times do REPS
// times, each time with a store that was just opened.
func (r *run) reading(do func(context.Context, *sessionstore.Store) error) error {
	n, times, err := r.sizes()
	if err != nil {
		return err
	}
	dir, err := r.prepare(n)
	if err != nil {
		return err
	}
	return r.fresh(dir, times, do)
}

// fresh times do so many times, each time with a store of the directory dir
// that was just opened.
func (r *run) fresh(dir string, times int, do func(context.Context, *sessionstore.Store) error) error {
	for range times {
		st, err := sessionstore.Open(dir, nil)
		if err != nil {
			return err
		}
		err = r.time(func() error { return do(context.Background(), st) })
		if err := errors.Join(err, st.Close()); err != nil {
			return err
		}
	}
	return nil
}

func load(r *run) error {
	return r.reading(func(ctx context.Context, st *sessionstore.Store) error {
		_, err := st.Load(ctx, sessionID)
		return err
	})
}

func reload(r *run) error {
	n, times, err := r.sizes()
	if err != nil {
		return err
	}
	dir, err := r.prepare(n)
	if err != nil {
		return err
	}
	st, err := sessionstore.Open(dir, nil)
	if err != nil {
		return err
	}
	ctx := context.Background()
	again := func() error {
		_, err := st.Load(ctx, sessionID)
		return err
	}
	if err := again(); err != nil {
		return errors.Join(err, st.Close())
	}
	return errors.Join(r.repeat(times, again), st.Close())
}

var errEmpty = errors.New("nothing was read")

func decode(r *run) error {
	return r.reading(func(ctx context.Context, st *sessionstore.Store) error {
		s, err := st.Load(ctx, sessionID)
		if err != nil {
			return err
		}
		var size atomic.Int64
		shared(len(s.Messages), func(from, to int) {
			n := 0
			for _, m := range s.Messages[from:to] {
				at, _ := m.Timestamp()
				n += len(m.Role()) + len(m.Content()) + at.Minute() + len(m.ToolCalls()) + len(m.ToolCallID())
			}
			size.Add(int64(n))
		})
		if size.Load() == 0 {
			return errEmpty
		}
		return nil
	})
}

// shared divides n things among as many goroutines as there are processors, in
// portions: where other programs work too, one is done sooner than another.
func shared(n int, do func(from, to int)) {
	const portions = 8 // for each, so that none waits long at the end
	workers := runtime.GOMAXPROCS(0)
	size := max(1, n/(portions*workers))
	var (
		taken atomic.Int64
		wait  sync.WaitGroup
	)
	for range workers {
		wait.Go(func() {
			for to := int(taken.Add(int64(size))); to-size < n; to = int(taken.Add(int64(size))) {
				do(to-size, min(to, n))
			}
		})
	}
	wait.Wait()
}

func diagnose(r *run) error {
	return r.reading(func(ctx context.Context, st *sessionstore.Store) error {
		s, err := st.Load(ctx, sessionID)
		if err != nil {
			return err
		}
		_, err = slice.Diagnose(s.Messages)
		return err
	})
}

func info(r *run) error {
	return r.reading(func(ctx context.Context, st *sessionstore.Store) error {
		s, err := st.Load(ctx, sessionID)
		if err != nil {
			return err
		}
		if slice.CountTurns(s.Messages) == 0 || s.Metadata.Text("model") == "" {
			return errEmpty
		}
		_, err = slice.Diagnose(s.Messages)
		return err
	})
}

func fork(r *run) error {
	return r.reading(func(ctx context.Context, st *sessionstore.Store) error {
		_, err := slice.Fork(ctx, st, sessionID, &slice.ForkOptions{})
		return err
	})
}

// deep times the making of a message out of objects nested N deep.
func deep(r *run) error {
	depth, times, err := r.sizes()
	if err != nil {
		return err
	}
	nested := map[string]any{"leaf": "value"}
	for range depth {
		nested = map[string]any{"name": "level", "next": nested}
	}
	value := map[string]any{"role": "user", "content": nested}
	return r.repeat(times, func() error {
		_, err := sessionstore.NewMessage(value)
		return err
	})
}
