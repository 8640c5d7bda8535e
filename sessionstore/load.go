package sessionstore

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

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

// Revision identifies the content of a transcript. Two equal revisions are
// the same bytes.
type Revision struct {
	Messages int
	Bytes    int64
	Sum      [16]byte // XXH3-128 of the bytes
}

func revisionOf(rows int, data []byte) Revision {
	return Revision{Messages: rows, Bytes: int64(len(data)), Sum: xxh3.Hash128(data).Bytes()}
}

// Load reads a session, as tolerantly as the reference: the backup stands in
// for a file that is damaged or missing, and the error is then nil and
// Recovered tells so. When both are damaged, Load returns what could be read,
// with the reference's placeholder for metadata, and an error that Is
// [ErrCorrupt]. A session without files is empty; one without a directory is
// [ErrNotFound]. Load never writes.
func (st *Store) Load(ctx context.Context, id string) (*Session, error) {
	start := st.clock()
	s, err := st.loadOpen(ctx, id)
	return s, st.loaded(ctx, "load", start, s, id, err)
}

func (st *Store) loadOpen(ctx context.Context, id string) (*Session, error) {
	done, err := st.begin(ctx)
	if err != nil {
		return nil, wrap("load", id, err)
	}
	defer done()
	dir, err := st.openDir(id)
	if err != nil {
		return nil, wrap("load", id, err)
	}
	s, damage, err := st.load(ctx, dir, id)
	if err = also(err, dir.Close()); err != nil {
		return nil, wrap("load", id, err)
	}
	return s, wrap("load", id, damage)
}

func (st *Store) load(ctx context.Context, dir *sessiondir.Dir, id string) (s *Session, damage, err error) {
	kept := st.session(id)
	m := st.metadataOf(kept, dir, id)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	t := st.transcriptOf(kept, dir, id, m.md)
	s = &Session{ID: id, Messages: slices.Clone(t.rows), Metadata: m.md, Revision: t.revision()}
	s.Recovered = joinRecovery(t.recovered, m.recovered)
	if s.Recovered != nil {
		st.log.Warn("read backup in place of damaged file", "session", id, "err", s.Recovered.Reason)
	}
	return s, also(t.damage, m.damage), nil
}

// transcriptOf reads the transcript, or takes what is known of it when the
// files are as they were.
func (st *Store) transcriptOf(s *session, dir *sessiondir.Dir, id string, md Metadata) transcript {
	return st.transcriptIf(s, dir, id, md, func() bool { return st.base.Free(id) })
}

// transcriptIf is transcriptOf; free tells that nobody else is writing.
func (st *Store) transcriptIf(s *session, dir *sessiondir.Dir, id string, md Metadata, free func() bool) transcript {
	if k := st.recall(s, dir); k != nil && k.size > 0 && !marked(dir) && !mayBeUnfinished(dir, k.main) {
		st.remember(id, k.size)
		t := transcript{rows: k.rows, known: k}
		t.main = file{name: sessiondir.Transcript, path: dir.Path(sessiondir.Transcript), found: true, stamp: k.main}
		t.from = fromMain
		return t
	}
	asked := time.Now()
	t := readTranscript(dir, md, free)
	if t.from == fromMain && t.damage == nil && t.main.stamp.Size == int64(len(t.main.data)) {
		t.known = knowledgeOf(&t, asked)
		st.learn(id, s, t.known)
	}
	return t
}

// knowledgeOf returns what is known of a sound main file that was just read.
// The time is that before it was read.
func knowledgeOf(t *transcript, at time.Time) *knowledge {
	k := &knowledge{rows: t.rows, size: int64(len(t.main.data)), main: t.main.stamp, at: at}
	var wait sync.WaitGroup
	sum := func() { k.sum.Write(t.main.data) } // never fails
	if k.size < partSize {
		sum()
	} else {
		wait.Go(sum)
	}
	k.ended = k.size == 0 || t.main.data[k.size-1] == '\n'
	returns := bytes.IndexByte(t.main.data, '\r') >= 0
	k.alien = slices.ContainsFunc(t.rows, func(m Message) bool { return m.m.at.role == unstoredRole || returns && m.alien() })
	wait.Wait()
	return k
}

// Messages yields the messages of a session in order, chosen and recovered as
// by [Store.Load], with one line in memory at a time. The error comes last:
// [ErrCorrupt] after all that could be read. Saves during the iteration are
// not seen.
func (st *Store) Messages(ctx context.Context, id string) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		done, err := st.begin(ctx)
		if err != nil {
			yield(Message{}, wrap("read", id, err))
			return
		}
		defer done()
		more := true
		err = st.stream(ctx, id, func(m Message) bool {
			more = yield(m, nil)
			return more
		})
		if err != nil && more {
			yield(Message{}, wrap("read", id, err))
		}
	}
}

// Metadata reads the metadata of a session, recovered as by [Store.Load].
func (st *Store) Metadata(ctx context.Context, id string) (Metadata, error) {
	done, err := st.begin(ctx)
	if err != nil {
		return Metadata{}, wrap("read metadata of", id, err)
	}
	defer done()
	if checkID(id) == nil {
		if md, ok := st.quickMetadata(id); ok {
			return md, nil
		}
	}
	dir, err := st.openDir(id)
	if err != nil {
		return Metadata{}, wrap("read metadata of", id, err)
	}
	m := st.metadataOf(st.session(id), dir, id)
	if m.recovered != nil {
		st.log.Warn("read backup in place of damaged file", "session", id, "err", m.recovered.Reason)
	}
	if err := dir.Close(); err != nil {
		return Metadata{}, wrap("read metadata of", id, fmt.Errorf("close directory: %w", err))
	}
	return m.md, wrap("read metadata of", id, m.damage)
}
