package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// unsynced returns a function that tells which sessions of st the cloud lacks
// something of, and nil where no cloud is configured. It makes no request.
func (a *app) unsynced(st *sessionstore.Store) func(ctx context.Context, ids []string) (map[string]string, error) {
	config, err := account()
	if errors.Is(err, errNoCloud) {
		return nil
	}
	return func(ctx context.Context, ids []string) (map[string]string, error) {
		if err != nil {
			return nil, fmt.Errorf("%w. \"sessions delete --even=unsynced\" does without", err)
		}
		return a.lacking(ctx, config, st.Dir(), ids)
	}
}

// lacking tells what the cloud lacks of the sessions ids in a directory.
func (a *app) lacking(ctx context.Context, config cosmos.Config, dir string, ids []string) (_ map[string]string, err error) {
	f := cloudFlags{As: a.env("COSMOS_PROJECT"), User: a.env("COSMOS_USER")}
	o := f.options(a, filepath.Base(filepath.Dir(dir)))
	if err := connect(ctx, config, false, o); err != nil {
		return nil, err
	}
	st, err := hybrid.Open(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	all := map[string]string{}
	for _, id := range ids {
		found, err := st.Status(ctx, id)
		if errors.Is(err, sessionstore.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if text := lacks(&found[0]); text != "" {
			all[id] = text
		}
	}
	return all, nil
}

// lacks tells what the cloud lacks of a session, "" when that is nothing.
func lacks(s *hybrid.Status) string {
	switch s.State {
	case hybrid.Pending, hybrid.Deferred, hybrid.Blocked:
		if s.Local > s.Remote {
			return fmt.Sprintf("the cloud lacks %s of it", count(s.Local-s.Remote, "message"))
		}
		return "the cloud lacks something of it"
	case hybrid.Removed:
		return "it was deleted in the cloud: this is the last copy"
	}
	return ""
}
