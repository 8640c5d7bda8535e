package slice

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/pytime"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// children looks through all sessions for those whose parent has that
// session_id. What could not be read is skipped.
func children(ctx context.Context, st *sessionstore.Store, parent string) (found []Child, skipped []error, err error) {
	shelf, err := sessiondir.OpenShelf(st.Dir())
	if err != nil {
		return []Child{}, nil, err
	}
	defer func() { err = errors.Join(err, shelf.Close()) }()
	names, err := shelf.Names()
	if err != nil {
		return []Child{}, nil, err
	}
	found = []Child{}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return found, skipped, err
		}
		if strings.HasPrefix(name, ".") {
			continue
		}
		raw, err := readMetadata(ctx, st, shelf, name)
		if err != nil {
			skipped = append(skipped, err)
			continue
		}
		c, ok, err := childOf(st, parent, name, raw)
		if err != nil {
			skipped = append(skipped, err)
		}
		if ok {
			found = append(found, c)
		}
	}
	newestFirst(found)
	return found, skipped, nil
}

// readMetadata returns the metadata of a session as they stand, or from their
// backup; nil when there are none.
func readMetadata(ctx context.Context, st *sessionstore.Store, shelf *sessiondir.Shelf, id string) ([]byte, error) {
	raw, err := readLeaf(shelf, id)
	if err == nil {
		raw = pyjson.Trim(raw)
		if pyjson.KindOf(raw) == pyjson.Object && pyjson.Check(raw, pyjson.Tolerant) == nil {
			return raw, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) && !shelf.Has(id, sessiondir.Backup(sessiondir.Metadata)) {
		return nil, nil
	}
	md, err := st.Metadata(ctx, id)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, sessionstore.ErrInvalidID) {
		return nil, nil // it has gone, or never was a session
	}
	if err != nil {
		return nil, err
	}
	return md.AppendTo(nil), nil
}

func readLeaf(shelf *sessiondir.Shelf, id string) (raw []byte, err error) {
	leaf, err := shelf.Open(id, sessiondir.Metadata)
	if err != nil {
		return nil, err
	}
	raw, err = io.ReadAll(leaf)
	return raw, errors.Join(err, leaf.Close())
}

// newestFirst sorts children by the time that forked_at means, then those
// without such a time by its text, and last those without forked_at.
func newestFirst(all []Child) {
	slices.SortStableFunc(all, func(a, b Child) int {
		at, aok := forkTime(a)
		bt, bok := forkTime(b)
		switch {
		case aok && bok:
			return cmp.Or(bt.Compare(at), cmp.Compare(a.Dir, b.Dir))
		case aok:
			return -1
		case bok:
			return 1
		}
		return cmp.Or(cmp.Compare(forkText(b), forkText(a)), cmp.Compare(a.Dir, b.Dir))
	})
}

func forkText(c Child) string {
	if c.ForkedAt == nil {
		return ""
	}
	return *c.ForkedAt
}

func forkTime(c Child) (time.Time, bool) {
	at, _, err := pytime.Parse(forkText(c))
	return at, err == nil && c.ForkedAt != nil
}
