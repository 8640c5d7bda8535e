package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
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
	l, err := r.openLog(r.args[0])
	if err != nil {
		return err
	}
	err = r.repeat(times, func() error { return do(context.Background(), l) })
	return errors.Join(err, l.Close())
}

// openLog opens the log in the data folder.
func (r *run) openLog(name string) (*eventslog.Log, error) {
	home := filepath.Join(r.work, sessionID)
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	if err := place(data(name), filepath.Join(home, "events.jsonl")); err != nil {
		return nil, err
	}
	return eventslog.Open(home, nil)
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
		done, err := l.SliceTo(ctx, out, cut, id, parent)
		r.n = done.Events
		return err
	})
}
