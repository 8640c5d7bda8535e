package sessionstore

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// Session is a session as it was read.
type Session struct {
	ID        string
	Messages  []Message
	Metadata  Metadata
	Revision  Revision
	Recovered *Recovery // nil when both files were read as they are
}

// Load reads a session, as tolerantly as the reference: the backup stands in
// for a file that is damaged or missing, and the error is then nil and
// Recovered tells so. When both are damaged, Load returns what could be read,
// with the reference's placeholder for metadata, and an error that Is
// [ErrCorrupt]. It also Is ErrCorrupt when transcript and backup are missing though
// the metadata counts turns: [Store.Append] and [Store.Save] then begin a new one, unless
// what was in it still lies there, as a placeholder of iCloud or another device's
// version. A session without files is empty; one without a directory is
// [ErrNotFound]. A file that may not be read counts as damaged, and its backup
// is read. Load fails instead while the process lacks descriptors or memory, while
// another program does not share the file, and when the file is too large for a
// program of 32 bits: none of these says that the file is damaged. Load never
// writes. After a killed append it returns what the Python tools read: the
// messages before, or those with all the new ones. The messages share the memory of the
// transcript; see [Message.Clone].
func (st *Store) Load(ctx context.Context, id string) (*Session, error) {
	start := st.clock()
	s, err := st.loadOpen(ctx, id)
	return s, st.loaded(ctx, "load", start, s, id, err)
}

func (st *Store) loadOpen(ctx context.Context, id string) (*Session, error) {
	err := st.begin(ctx)
	if err != nil {
		return nil, wrap("load", id, err)
	}
	defer st.done()
	dir, err := st.openDir(id)
	if err != nil {
		return nil, wrap("load", id, err)
	}
	s, damage, err := st.load(ctx, dir, id)
	if err = joinErrors(err, dir.Close()); err != nil {
		return nil, wrap("load", id, err)
	}
	return s, wrap("load", id, damage)
}

func (st *Store) load(ctx context.Context, dir *sessiondir.Dir, id string) (s *Session, damage, err error) {
	entry := st.cache.call(id)
	defer st.cache.end(entry)
	m := st.metadataOf(entry, dir, id)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	t := st.transcriptOf(entry, dir, id, m.md)
	if errors.Is(t.unread, ErrNotFound) {
		return nil, nil, t.unread
	}
	s = &Session{ID: id, Messages: slices.Clone(t.rows), Metadata: m.md, Revision: t.revision()}
	s.Recovered = joinRecovery(t.recovered, m.recovered)
	if s.Recovered != nil {
		st.log.Warn("read backup in place of damaged file", "session", id, "err", s.Recovered.Reason)
	}
	return s, joinErrors(t.damage, m.damage), nil
}

// loaded tells the observer of a call that read a session, and returns its error.
func (st *Store) loaded(ctx context.Context, op string, start time.Time, s *Session, id string, err error) error {
	if st.opts.Observer != nil {
		recovered := s != nil && s.Recovered != nil
		st.opts.Observer.Called(ctx, Call{Op: op, Session: id, Start: start, Recovered: recovered, Err: err})
	}
	return err
}
