package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

const (
	sessionID = "bench-session"
	metadata  = `{"session_id": "bench-session", "created": "2026-01-05T10:00:00+00:00", "bundle": "bundle:foundation", "model": "anthropic/claude-opus", "turn_count": 12}`
)

// prepare lays out one session with the transcript t<n>.jsonl.
func (r *run) prepare(n int) (dir string, err error) {
	dir = filepath.Join(r.work, "sessions")
	home := filepath.Join(dir, sessionID)
	if err := os.MkdirAll(home, 0o700); err != nil {
		return "", err
	}
	if err := copyFile(filepath.Join(home, "transcript.jsonl"), data("t"+strconv.Itoa(n)+".jsonl")); err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(home, "metadata.json"), []byte(metadata), 0o600)
}

func copyFile(to, from string) (err error) {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

func (r *run) durability(i int) (sessionstore.Durability, error) {
	if i < len(r.args) {
		switch r.args[i] {
		case "durable":
			return sessionstore.Durable, nil
		case "relaxed":
			return sessionstore.Relaxed, nil
		}
	}
	return 0, fmt.Errorf("%w: durable or relaxed is missing", errUsage)
}

// writer is a loaded session that is written again and again.
type writer struct {
	st    *sessionstore.Store
	rows  []sessionstore.Message
	md    sessionstore.Metadata
	turns int
}

// writing loads the session of the arguments N REPS DURABILITY and times do
// REPS times, after two saves that bring the files into the state between
// saves.
func (r *run) writing(do func(context.Context, *writer) error) error {
	n, times, err := r.sizes()
	if err != nil {
		return err
	}
	d, err := r.durability(2)
	if err != nil {
		return err
	}
	dir, err := r.prepare(n)
	if err != nil {
		return err
	}
	st, err := sessionstore.Open(dir, &sessionstore.Options{Durability: d})
	if err != nil {
		return err
	}
	defer st.Close()
	ctx := context.Background()
	s, err := st.Load(ctx, sessionID)
	if err != nil {
		return err
	}
	w := &writer{st: st, rows: s.Messages, md: s.Metadata}
	for range 2 {
		if err := w.save(ctx); err != nil {
			return err
		}
	}
	return errors.Join(r.repeat(times, func() error { return do(ctx, w) }), st.Close())
}

var filler = strings.Repeat("The store writes a line and returns. ", 22)

// message returns a new message of about 0.9 kB.
func (w *writer) message() (sessionstore.Message, error) {
	w.turns++
	return sessionstore.NewMessage(map[string]any{
		"role": "assistant", "content": filler + strconv.Itoa(w.turns),
		"timestamp": "2026-01-05T10:00:00.000000+00:00",
		"metadata":  map[string]any{"timestamp": "2026-01-05T10:00:00.000000+00:00"},
	})
}

func (w *writer) save(ctx context.Context) error {
	m, err := w.message()
	if err != nil {
		return err
	}
	w.rows = append(w.rows, m)
	return w.st.Save(ctx, sessionID, w.rows, w.md)
}

func save(r *run) error {
	return r.writing(func(ctx context.Context, w *writer) error { return w.save(ctx) })
}

func saveMeta(r *run) error {
	return r.writing(func(ctx context.Context, w *writer) error {
		if err := w.md.Set("turn_count", 100+w.turns); err != nil {
			return err
		}
		return w.save(ctx)
	})
}

func appendOne(r *run) error {
	return r.writing(func(ctx context.Context, w *writer) error {
		m, err := w.message()
		if err != nil {
			return err
		}
		return w.st.Append(ctx, sessionID, m)
	})
}

func rewrite(r *run) error {
	return r.writing(func(ctx context.Context, w *writer) error {
		m, err := w.message()
		if err != nil {
			return err
		}
		w.rows[0] = m
		return w.st.Save(ctx, sessionID, w.rows, w.md)
	})
}
