package sessionstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/amplifier-go/sessionstorage/internal/disk/commit"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// turnsMember is the member of metadata.json that counts the messages of a
// person. Lists of all tools show it.
const turnsMember = "turn_count"

// users returns the number of messages of the transcript on disk that a person wrote,
// after this call wrote the transcript. It looks at all messages once, and then caches
// the count with the transcript.
func (tx *transaction) users() int {
	tx.s.mu.Lock()
	c := tx.s.cached
	tx.s.mu.Unlock()
	if c == nil { // other sessions pushed it out of the cache in between
		return countUsers(tx.read(Metadata{}).rows)
	}
	if !c.users.known {
		counted := *c
		counted.users = userCount{known: true, n: countUsers(c.rows)}
		c = &counted
		tx.s.putTranscript(c)
	}
	return c.users.n
}

// countTurns makes turn_count the number of messages that a person wrote,
// after added was appended to the transcript. Metadata without the member
// stays as it is, and so does every other byte of the file.
//
// The number is counted and not incremented, so an append also corrects the number of a
// process that was killed before it counted. Such a number is too low. A number that is
// too high is another tool's way to count, and stays until a person writes again.
func (tx *transaction) countTurns(meta *metadataFile, added []Message) error {
	value, ok := meta.md.lookup(turnsMember)
	if !ok {
		return nil
	}
	n := tx.users()
	if string(value) == strconv.Itoa(n) {
		return nil
	}
	if countUsers(added) == 0 {
		if old, ok := meta.md.Int(turnsMember); !ok || old > n {
			return nil
		}
	}
	counted := func(m *metadataFile) ([]byte, error) { return m.withTurns(n) }
	content, err := counted(meta)
	if err == nil {
		err = tx.saveMetadata(meta, content, counted)
	}
	if err != nil && !errors.Is(err, errNoTurns) {
		return fmt.Errorf("count turns: %w", err)
	}
	return nil
}

// errNoTurns is returned when another writer removed turn_count from the metadata.
var errNoTurns = errors.New("metadata has no " + turnsMember)

// withTurns returns the bytes of the metadata with the turn_count n. The error is
// errNoTurns when the metadata has no count; metadata that this call displaced
// is then returned as it is, so that the caller gives it its name back.
func (m *metadataFile) withTurns(n int) ([]byte, error) {
	data := m.main.data
	if m.displaced || !m.main.sound() {
		data = m.backup.data
	}
	if _, ok := m.md.lookup(turnsMember); !ok || m.damage != nil {
		if m.displaced {
			return data, nil
		}
		return nil, errNoTurns
	}
	return pyjson.Splice(data, turnsMember, strconv.AppendInt(nil, int64(n), 10)), nil
}

// amendCount begins to write the count of the transcript t with rows at its end. It
// writes over the backup of the metadata, which readers do not use while the metadata are
// sound, so the sync of the count runs beside the sync of the transcript. It does nothing
// where the metadata stay as they are or have to be replaced.
func (tx *transaction) amendCount(meta *metadataFile, t *transcript, rows []Message) error {
	added := countUsers(rows)
	if added == 0 || t.cached == nil || !meta.main.sound() {
		return nil
	}
	content, err := meta.withTurns(tx.users() + added)
	if err != nil {
		return nil // there is no count
	}
	if meta.writtenTime.IsZero() && tx.s.nameSynced.Same(t.cached.main) {
		return nil // another writer may have renamed the metadata without a sync
	}
	if err := tx.syncName(t.cached); err != nil {
		return err
	}
	a := amendment{content: content, time: vfs.Now(meta.main.stamp.Mtime)}
	a.file, err = tx.file(sessiondir.Metadata).Amend(meta.main.stamp, content, a.time)
	if errors.Is(err, commit.ErrRewrite) {
		return nil
	}
	meta.amended = a
	return err
}

// stream hands the messages of a session to yield until it returns false. It reads a
// sound transcript twice, a line at a time, so that it yields no message before the whole
// file is known to be sound.
func (st *Store) stream(ctx context.Context, id string, yield func(Message) bool) (err error) {
	dir, err := st.openDir(id)
	if err != nil {
		return err
	}
	defer func() { err = joinErrors(err, dir.Close()) }()
	f, at, err := dir.Open(sessiondir.Transcript)
	if err == nil {
		defer func() { err = joinErrors(err, f.Close()) }()
		path := dir.Path(sessiondir.Transcript)
		sound := at.Size > 0 && !mayBeAppending(dir)
		if sound {
			err := scanRows(ctx, f, path, nil)
			sound = err == nil
			if ctx.Err() != nil {
				return err
			}
		}
		if sound {
			if _, err := f.Seek(0, io.SeekStart); err != nil {
				return err
			}
			return scanRows(ctx, f, path, yield)
		}
	}
	s := st.cache.call(id)
	defer st.cache.end(s)
	t := st.transcriptOf(s, dir, id, readMetadata(dir, id, st.opts.Now).md)
	for _, m := range t.rows {
		if !yield(m) {
			return nil
		}
	}
	return t.damage
}

// scanRows hands the messages in r to yield, and returns the first damage. With
// a nil yield it only looks for damage.
func scanRows(ctx context.Context, r io.Reader, path string, yield func(Message) bool) error {
	lines, rows := jsonl.NewReader(r), lineReader{}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		more := true
		err = rows.parse(line, func(m message) {
			if more && yield != nil {
				m.raw = bytes.Clone(m.raw)
				more = yield(Message{&m})
			}
		})
		if !more {
			return nil
		}
		if err != nil {
			return &CorruptError{Path: path, Line: line.Number, Offset: line.Offset, Err: err}
		}
	}
}

// Messages yields the messages of a session in order, chosen and recovered as by
// [Store.Load], with one line in memory at a time. It does not report, as Load does, that
// they come from the backup. The error comes last: [ErrCorrupt] after all readable
// messages. Saves during the iteration are not seen. Each message has memory of its own,
// unless it comes from a backup; see [Message.Clone].
func (st *Store) Messages(ctx context.Context, id string) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		err := st.admit(ctx)
		if err != nil {
			yield(Message{}, wrap("read", id, err))
			return
		}
		defer st.done()
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
