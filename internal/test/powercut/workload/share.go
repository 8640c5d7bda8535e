package workload

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/dir"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/history"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/reader"
)

// shares lets a device that keeps its power write to two sessions, and sync them by a
// directory on the disk. A sync that returned promises the device's current data.
func (c *client) shares(ctx context.Context, n int) (err error) {
	top, err := reader.Scratch()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(top)) }()
	own := *c
	own.dir = c.dir + "-share"
	if err := errors.Join(os.MkdirAll(filepath.Dir(own.path()), 0o700), dir.Provision(ctx, own.path())); err != nil {
		return err
	}
	return reader.Sharing(ctx, own.path(), filepath.Join(top, "sessions"), func(s *hybrid.Store) error {
		for i := range n {
			if err := own.share(ctx, s, fmt.Sprint("one", own.n(2)), i); err != nil {
				return err
			}
		}
		return own.Err()
	})
}

// share changes a session and syncs it.
func (c *client) share(ctx context.Context, s *hybrid.Store, id string, i int) error {
	was, err := s.Load(ctx, id)
	if err == nil && len(was.Messages) > 1 && c.n(4) == 0 {
		_, err = s.Replace(ctx, id, was.Revision, was.Messages[:len(was.Messages)-1])
	} else {
		err = s.Append(ctx, id, c.message("user", fmt.Sprintf("%s-h%d", id, i)))
	}
	if err != nil {
		return err
	}
	local := reader.New(filepath.Dir(s.Dir()))
	here := history.Subject{Dir: filepath.Base(s.Dir()), ID: id, View: history.Session}
	c.begin(c.subject(id, history.Share), "commit")(syncOne(ctx, s, id), func() history.State { return local.State(ctx, here) })
	return local.Close()
}

func syncOne(ctx context.Context, s *hybrid.Store, id string) error {
	_, err := s.Sync(ctx, id)
	return err
}
