package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// firstRows is the number of rows on a screen.
const firstRows = 50

// summaries has an index that fits.
func summaries(r *run) error {
	return r.summarizing(true, func(string) error { return nil }, 0)
}

// summariesFirst has no index.
func summariesFirst(r *run) error { return r.summarizing(false, withoutIndex, 0) }

// summariesRows ends with the first rows. There is no index.
func summariesRows(r *run) error { return r.summarizing(false, withoutIndex, firstRows) }

// summariesOne has an index that fits all sessions but one, which is written anew as it was.
func summariesOne(r *run) error {
	return r.summarizing(true, func(path string) error {
		names, err := filepath.Glob(filepath.Join(path, "*", "transcript.jsonl"))
		if err != nil || len(names) == 0 {
			return errEmpty
		}
		text, err := os.ReadFile(names[len(names)/2])
		if err != nil {
			return err
		}
		return os.WriteFile(names[len(names)/2], text, 0o600)
	}, 0)
}

// summarizing times Summaries of the directory of N sessions in a fresh Store, each time
// after prepare. It ends after some rows; 0: with all. The index is removed at the end.
func (r *run) summarizing(indexed bool, prepare func(path string) error, rows int) (err error) {
	path, times, err := r.sessions()
	if err != nil {
		return err
	}
	defer func() {
		if removed := withoutIndex(path); err == nil {
			err = removed
		}
	}()
	do := func(ctx context.Context, st *sessionstore.Store) error {
		n := 0
		for _, err := range st.Summaries(ctx, all) {
			if err != nil {
				return err
			}
			if n++; n == rows {
				break
			}
		}
		if n == 0 {
			return errEmpty
		}
		return nil
	}
	if indexed {
		time.Sleep(rest)
		if err := r.fresh(path, 1, do); err != nil {
			return err
		}
		r.took, r.cpu = nil, nil
	}
	for range times {
		if err := prepare(path); err != nil {
			return err
		}
		if indexed {
			time.Sleep(rest)
		}
		if err := r.fresh(path, 1, do); err != nil {
			return err
		}
	}
	return nil
}

// rest is how long files are left alone, so that their times show later changes.
const rest = 100 * time.Millisecond

func withoutIndex(path string) error {
	return os.RemoveAll(filepath.Join(path, ".sessionstore", "index"))
}
