package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// sessions returns the directory of N sessions, and how often to do something.
func (r *run) sessions() (path string, times int, err error) {
	n, times, err := r.sizes()
	if err != nil {
		return "", 0, err
	}
	path = data("base" + strconv.Itoa(n))
	_, err = os.Stat(path) // Open would make it
	return path, times, err
}

// listing opens the directory of N sessions and times do REPS times, after
// first, which may be nil.
func (r *run) listing(first, do func(context.Context, *sessionstore.Store) error) error {
	path, times, err := r.sessions()
	if err != nil {
		return err
	}
	st, err := sessionstore.Open(path, nil)
	if err != nil {
		return err
	}
	ctx := context.Background()
	if first != nil {
		err = first(ctx, st)
	}
	if err == nil {
		err = r.repeat(times, func() error { return do(ctx, st) })
	}
	return errors.Join(err, st.Close())
}

var all = &sessionstore.ListOptions{All: true}

func list(r *run) error {
	return r.listing(nil, func(ctx context.Context, st *sessionstore.Store) error {
		found, err := st.List(ctx, all)
		if len(found) == 0 && err == nil {
			err = errEmpty
		}
		return err
	})
}

func listMeta(r *run) error { return r.listing(nil, listWithMetadata) }

// listMetaFirst is listMeta with a store that was just opened, each time.
func listMetaFirst(r *run) error {
	path, times, err := r.sessions()
	if err != nil {
		return err
	}
	return r.fresh(path, times, listWithMetadata)
}

func listWithMetadata(ctx context.Context, st *sessionstore.Store) error {
	found, err := st.List(ctx, all)
	if err != nil {
		return err
	}
	var failed atomic.Pointer[error]
	shared(len(found), func(from, to int) {
		for _, s := range found[from:to] {
			if _, err := st.Metadata(ctx, s.ID); err != nil {
				failed.Store(&err)
			}
		}
	})
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

func find(r *run) error {
	prefix := ""
	first := func(ctx context.Context, st *sessionstore.Store) (err error) {
		prefix, err = choose(ctx, st)
		return err
	}
	return r.listing(first, func(ctx context.Context, st *sessionstore.Store) error {
		_, err := st.Find(ctx, prefix, nil)
		return err
	})
}

// choose returns a prefix that one session has.
func choose(ctx context.Context, st *sessionstore.Store) (string, error) {
	found, err := st.List(ctx, nil)
	if err != nil || len(found) == 0 {
		return "", errors.Join(err, errEmpty)
	}
	ids := make([]string, len(found))
	for i, s := range found {
		ids[i] = s.ID
	}
	slices.Sort(ids)
	id := ids[len(ids)/2]
	return id[:len(id)-1], nil
}

// keyword looks for a word that occurs nowhere.
func keyword(r *run) error {
	n, times, err := r.sizes()
	if err != nil {
		return err
	}
	base, err := filepath.Abs(data("base" + strconv.Itoa(n)))
	if err != nil {
		return err
	}
	project := filepath.Join(r.work, "projects", "-bench")
	if err := os.MkdirAll(project, 0o700); err != nil {
		return err
	}
	if err := os.Symlink(base, filepath.Join(project, "sessions")); err != nil {
		return err
	}
	p, err := projects.Open(filepath.Dir(project), nil)
	if err != nil {
		return err
	}
	err = r.repeat(times, func() error {
		found, err := p.Find(context.Background(), projects.Query{Keyword: "zyxwvq-nowhere"})
		if len(found) > 0 {
			err = errors.Join(err, errors.New("the word was found"))
		}
		return err
	})
	return errors.Join(err, p.Close())
}
