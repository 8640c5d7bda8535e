package syncer

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
	"github.com/amplifier-go/sessionstorage/internal/commit"
	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/pytime"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/vfs"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// conflictCopy returns the session that is to keep the line here. A divergence has
// one: a sync that was broken off may have made it, and the program wrote on.
func (l *local) conflictCopy(ctx context.Context, common int64) (*conflictCopy, error) {
	if n := len(l.st.Kept); n > 0 {
		k, err := l.madeCopy(ctx, l.st.Kept[n-1], common)
		if k != nil || err != nil {
			return k, err
		}
	}
	return &conflictCopy{id: l.copyID(l.main.Point())}, nil
}

// madeCopy returns a session that keeps the beginning of the line here, behind what is
// common, and nothing else; nil when it does not, or when a program uses it.
func (l *local) madeCopy(ctx context.Context, id string, common int64) (*conflictCopy, error) {
	if !l.Core.Has(id) || !l.Core.Free(id) {
		return nil, nil
	}
	if l.Programs != nil {
		if use, err := l.Programs.Look(id); err != nil || use.Here || !use.Others.IsZero() {
			return nil, err
		}
	}
	from := l.transcript()
	from.ID = id
	was, err := from.Scan(ctx, l.main.FormsOf(), false)
	if err != nil {
		return nil, track.Gone(err)
	}
	if was.Torn || was.End().N <= common {
		return nil, nil
	}
	if on, err := l.main.Has(ctx, was.Point()); !on || err != nil {
		return nil, err
	}
	return &conflictCopy{id, was}, nil
}

// copyID is the id of a new session that keeps a line here: the same for the same
// line, so that a crash leaves no second one.
func (s *session) copyID(p segment.Point) string {
	b := sha256.Sum256([]byte("fork\x00" + s.sid + "\x00" + p.Hash.String()))
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// storeCopy makes the transcript here a session of its own, laid out as a
// fork: it shares the first common records with what the session goes on with. A
// session that has the beginning grows.
func (l *local) storeCopy(ctx context.Context, k *conflictCopy, common int64) (err error) {
	switch {
	case k.was != nil && k.was.Point() == l.main.Point():
	case k.was != nil:
		err = l.growCopy(ctx, k)
	case slices.Contains(l.st.Kept, k.id) && !l.Core.Has(k.id):
		return nil // it was kept, and removed since
	default:
		err = l.makeCopy(ctx, k.id, common)
	}
	if err != nil {
		return err
	}
	if err := l.Core.SyncFiles(ctx, k.id, sessiondir.Transcript, sessiondir.Metadata); err != nil {
		return track.Gone(err)
	}
	if !slices.Contains(l.st.Kept, k.id) {
		l.st.Kept = append(l.st.Kept, k.id)
	}
	l.Dirty.Add(k.id, replica.Written)
	return l.States.Save(l.sid, l.st)
}

func (l *local) makeCopy(ctx context.Context, id string, common int64) error {
	at, ok, err := l.main.Mark(ctx, common)
	if err != nil || !ok {
		return errors.Join(track.ErrMoved, err)
	}
	md, err := l.forkMetadata(ctx, id, at.Turn)
	if err != nil {
		return err
	}
	err = l.change(ctx, l.Core.Make, id, func(tx core.Tx) error {
		err := tx.Dir().Replace(sessiondir.Transcript, l.Core.Syncs(), vfs.Now(time.Time{}), l.writeMain(ctx))
		if err != nil {
			return err
		}
		tx.Renamed(sessiondir.Transcript)
		return tx.SetMetadata(md)
	})
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// growCopy makes the transcript of the session that keeps the beginning of the line
// the whole of it.
func (l *local) growCopy(ctx context.Context, k *conflictCopy) error {
	md, err := l.Store.Metadata(ctx, k.id)
	if err != nil {
		return err
	}
	if err := errors.Join(md.Set("turn_count", l.main.End().Turn), md.Set("conflict_of", l.id)); err != nil {
		return err
	}
	err = l.change(ctx, l.Core.Change, k.id, func(tx core.Tx) error {
		stamp, err := tx.Dir().Stat(sessiondir.Transcript)
		if err != nil || !stamp.SameContent(k.was.File) {
			return errors.Join(track.ErrMoved, err)
		}
		err = tx.Replace(sessiondir.Transcript, commit.Replacement{
			Was: stamp, Time: vfs.Now(stamp.Mtime), Write: l.writeMain(ctx), Rotate: func() (bool, error) { return true, nil },
		})
		if err != nil {
			return err
		}
		return tx.SetMetadata(md)
	})
	if errors.Is(err, sessionstore.ErrConflict) || errors.Is(err, sessionstore.ErrNotFound) {
		return track.ErrMoved
	}
	return err
}

// writeMain returns what writes the transcript here.
func (l *local) writeMain(ctx context.Context) func(io.Writer) error {
	return func(out io.Writer) error { return replica.WriteLines(out, l.main.RawLines(ctx, 0)) }
}

// forkMetadata is what a fork's metadata holds, with what else was known here.
func (l *local) forkMetadata(ctx context.Context, id string, turn int) (sessionstore.Metadata, error) {
	from, err := l.Store.Metadata(ctx, l.id)
	if err != nil {
		from = sessionstore.Metadata{} // damaged or not there: the lineage is what counts
	}
	now := pytime.Format(l.Core.Now().UTC().Truncate(time.Microsecond))
	var md sessionstore.Metadata
	set := func(name string, value any) {
		if err := md.Set(name, value); err != nil {
			l.Log.Warn("member of a fork's metadata left out", "session", id, "err", err)
		}
	}
	set("session_id", id)
	set("parent_id", l.id)
	set("conflict_of", l.id)
	set("forked_from_turn", turn)
	set("forked_at", now)
	set("created", now)
	set("turn_count", l.main.End().Turn)
	for _, name := range []string{"bundle", "model"} {
		raw, ok := from.Lookup(name)
		if !ok {
			raw = []byte("null")
		}
		set(name, json.RawMessage(raw))
	}
	if raw, ok := from.Lookup("working_dir"); ok {
		set("working_dir", json.RawMessage(raw))
	}
	return md, nil
}
