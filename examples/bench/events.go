package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/eventslog"
)

// logged opens the log FILE as the log of a session and times do REPS times.
func (r *run) logged(do func(context.Context, *eventslog.Log) error) error {
	if len(r.args) == 0 {
		return errUsage
	}
	times, err := r.number(1)
	if err != nil {
		return err
	}
	l, err := r.openLog(r.args[0], nil)
	if err != nil {
		return err
	}
	err = r.repeat(times, func() error { return do(context.Background(), l) })
	return errors.Join(err, l.Close())
}

// openLog opens the log in the data folder; "" is a new one.
func (r *run) openLog(name string, opts *eventslog.Options) (*eventslog.Log, error) {
	home := filepath.Join(r.work, sessionID)
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	if name != "" {
		if err := place(data(name), filepath.Join(home, "events.jsonl")); err != nil {
			return nil, err
		}
	}
	return eventslog.Open(home, opts)
}

// place gives the file a second name, or copies it where a second name cannot be made.
func place(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	return copyFile(to, from)
}

func summary(r *run) error {
	return r.logged(func(ctx context.Context, l *eventslog.Log) error {
		sum, err := l.Summary(ctx)
		r.n = sum.Total
		return err
	})
}

// at finds event N by its number.
func at(r *run) error {
	n, err := r.number(2)
	if err != nil {
		return err
	}
	r.n = n
	return r.logged(func(ctx context.Context, l *eventslog.Log) error {
		_, err := l.At(ctx, n)
		return err
	})
}

func sliceSame(r *run) error { return r.slice("", "") }

func sliceNew(r *run) error { return r.slice("new-session", "parent-session") }

func (r *run) slice(id, parent string) error {
	cut := time.Now().AddDate(100, 0, 0) // nothing is later
	return r.logged(func(ctx context.Context, l *eventslog.Log) (err error) {
		out, err := os.Create(filepath.Join(r.work, "slice.jsonl"))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, out.Close()) }()
		r.n, err = l.SliceTo(ctx, out, cut, id, parent)
		return err
	})
}

// appenders times G goroutines that append N events each, all together.
func appenders(r *run) error {
	g, err := r.number(0)
	if err != nil {
		return err
	}
	n, err := r.number(1)
	if err != nil {
		return err
	}
	sync := len(r.args) > 2 && r.args[2] == "durable"
	if !sync && (len(r.args) < 3 || r.args[2] != "relaxed") {
		return errUsage
	}
	l, err := r.openLog("", &eventslog.Options{Sync: sync})
	if err != nil {
		return err
	}
	r.n = g * n
	err = r.time(func() error { return flood(l, g, n) })
	r.took[0] /= time.Duration(r.n)
	r.cpu[0] /= time.Duration(r.n)
	return errors.Join(err, l.Close())
}

func flood(l *eventslog.Log, g, n int) error {
	var wait sync.WaitGroup
	errs := make([]error, g)
	for i := range g {
		wait.Go(func() {
			for k := range n {
				e := eventslog.Event{Name: "tool:post", Data: map[string]any{"tool": "bash", "n": k, "text": filler}}
				if errs[i] = l.Append(context.Background(), e); errs[i] != nil {
					return
				}
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}
