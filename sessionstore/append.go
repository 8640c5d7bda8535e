package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/disk/commit"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// Append adds msgs to the end of the present transcript, and makes the session when there
// is none. It costs the new messages only. Beside other processes that append, nothing is
// lost: each adds its messages behind the other's. Messages with role system or developer
// are not stored. Calls on one session that wait for each other are written and synced as
// one.
//
// Where metadata.json has the member turn_count, Append makes it the number of messages
// that a person wrote in the whole transcript (package slice has the rule: IsRealUser).
// It is written after the transcript, and only when the number changed: a message of a
// person costs a write of the metadata, other messages do not. When Append returns nil
// the count is right. A killed process or a power cut may leave out the messages of one
// call; the next Append counts them. All other metadata stays as it is, byte for byte.
// Metadata without a sound backup is copied to one, by the first Append of a Store.
//
// After an error, either none of msgs is stored, or all. All are stored when only
// turn_count could not be written. The error Is [ErrConflict] when a program that takes
// no lock, as the older Python tools do not, wrote the session each of the 20 times that
// Append began anew, or made the new session at the same moment as Append.
func (st *Store) Append(ctx context.Context, id string, msgs ...Message) error {
	_, err := st.AppendStored(ctx, id, msgs...)
	return err
}

// AppendStored is [Store.Append], and returns where each of msgs is stored: its number, as
// [View.Range] and [Entry] count messages, and 0 for a message that is not stored. With an
// error the numbers mean nothing.
func (st *Store) AppendStored(ctx context.Context, id string, msgs ...Message) (_ []int, err error) {
	tx, err := st.admitWrite(ctx, "append to", id, owns|creates)
	if err != nil {
		return nil, err
	}
	defer tx.end(&err)
	rows, err := st.storable(msgs, 0)
	if err != nil {
		return nil, err
	}
	own := &queuedAppend{rows: rows}
	tx.s.appends.add(own)
	defer tx.s.appends.remove(own)
	if err := tx.enter(); err != nil {
		return nil, err
	}
	if !own.done {
		own.err = tx.commit(tx.appendBatch())
	}
	if own.err != nil {
		return nil, own.err
	}
	numbers, next := make([]int, len(msgs)), own.before
	for i, m := range msgs {
		if m.m.places.role != unstoredRole {
			next++
			numbers[i] = next
		}
	}
	return numbers, nil
}

// appendBatch writes what all calls in the queue append, the caller's among them. It
// takes the calls from the queue when the session is locked: until then each call can
// still end by its own context.
func (tx *transaction) appendBatch() error {
	if err := tx.acquire(); err != nil {
		return err
	}
	if err := tx.open(); err != nil {
		return err
	}
	if err := tx.ctx.Err(); err != nil {
		return err
	}
	tx.batch = tx.s.appends.takeAll()
	ctx := tx.ctx
	if len(tx.batch) > 1 { // the end of one call's context does not end the others
		ctx = context.WithoutCancel(ctx)
	}
	var rows []Message
	for _, a := range tx.batch {
		rows = append(rows, a.rows...)
	}
	err := tx.append(ctx, rows)
	for _, a := range tx.batch {
		a.before = tx.before
		tx.before += len(a.rows)
	}
	return err
}

// append adds rows to the transcript, and metadata to a new session. The metadata are
// written after the transcript, whose messages they count.
func (tx *transaction) append(ctx context.Context, rows []Message) error {
	meta := tx.metadata()
	if meta.unread != nil {
		return meta.unread
	}
	t, err := tx.transcript(ctx, meta.md)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	added := countUsers(rows)
	if added > 0 {
		if err := tx.amendCount(&meta, t, added); err != nil {
			return err
		}
		defer meta.amended.discard()
	}
	if err := tx.addTo(t, rows, &meta); err != nil {
		return err
	}
	if meta.main.found || meta.backup.found {
		return tx.countTurns(&meta, added)
	}
	content, err := tx.st.initialMetadata(tx.id, Metadata{}, tx.users()).file(tx.st.opts.Portable)
	if err != nil {
		return fmt.Errorf("encode metadata: %w", err)
	}
	return tx.replaceMetadata(&metadataFile{}, content)
}

// addTo adds rows to t. If another writer came between, it discards the metadata that are
// prepared for t, and adds rows to the transcript that this writer left.
func (tx *transaction) addTo(t *transcript, rows []Message, meta *metadataFile) error {
	for try := 0; ; try++ {
		tx.before = len(t.rows)
		err := tx.extend(t, rows)
		if err == nil {
			return nil
		}
		if !overtaken(err) || try == maxRetries {
			return tx.conflict(sessiondir.Transcript, err)
		}
		meta.amended.discard() // the other writer's files are read now, the backup too
		left, err := tx.left(err)
		if left == nil {
			return err
		}
		if n, ok := tx.matchPrefix(left.rows, slices.Concat(t.rows, rows)); ok {
			tx.before = n - len(rows)
			return nil // the other writer had seen rows
		}
		t = left
	}
}

// left returns the transcript of the other writer after err, the error of a write that
// another writer overtook: see [overtaken]. It returns nil when there is nothing more to
// write, or with an error.
func (tx *transaction) left(err error) (*transcript, error) {
	tx.s.invalidate()
	if errors.Is(err, errDisplaced) {
		return tx.displaced(), nil
	}
	t, err := tx.transcript(context.WithoutCancel(tx.ctx), tx.metadata().md)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// displaced returns the transcript that this call displaced, with the stamp of the
// present file, which the next write replaces. It returns nil when the displaced
// transcript is not whole any more: then this call was the last to rename.
func (tx *transaction) displaced() *transcript {
	theirs, main, err := tx.displacedFile(sessiondir.Transcript)
	if err != nil {
		return nil
	}
	rows := theirs.parseRows(context.WithoutCancel(tx.ctx))
	if !theirs.sound() {
		return nil
	}
	return &transcript{main: main, rows: rows, from: fromMain}
}

// queuedAppend is one call of Append that waits to be written.
type queuedAppend struct {
	rows   []Message
	before int   // the number of messages before rows; guarded by the session's gate, as the next two
	done   bool  // another call has written rows, or failed to
	err    error // the error of that write
}

// appendQueue holds the calls of Append that wait for one session. The zero
// appendQueue is empty.
type appendQueue struct {
	mu      sync.Mutex // guards the fields below
	waiting []*queuedAppend
}

func (q *appendQueue) add(a *queuedAppend) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, a)
}

// remove removes a call that gave up. It does nothing when the call does not
// wait any more.
func (q *appendQueue) remove(a *queuedAppend) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(other *queuedAppend) bool { return other == a })
}

// takeAll removes all calls and returns them in their order.
func (q *appendQueue) takeAll() []*queuedAppend {
	q.mu.Lock()
	defer q.mu.Unlock()
	batch := q.waiting
	q.waiting = nil
	return batch
}

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
		return countUsers(tx.st.transcriptOf(context.WithoutCancel(tx.ctx), tx.s, tx.dir, tx.id, Metadata{}).rows)
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
// after so many were added to the transcript. Metadata without the member stays as it is,
// and so does every other byte of the file.
//
// The number is counted and not incremented, so an append also corrects the number of a
// process that was killed before it counted. Such a number is too low. A number that is
// too high is another tool's way to count, and stays until a person writes again.
func (tx *transaction) countTurns(meta *metadataFile, added int) error {
	value, ok := meta.md.lookup(turnsMember)
	if !ok {
		return nil
	}
	n := tx.users()
	if string(value) == strconv.Itoa(n) {
		return nil
	}
	if added == 0 {
		if old, ok := meta.md.Int(turnsMember); !ok || old > n {
			return nil
		}
	}
	counted := func(m *metadataFile) ([]byte, error) { return m.withTurns(n) }
	content, err := meta.amended.content, error(nil)
	if meta.amended.file == nil || meta.amended.turns != n {
		content, err = counted(meta)
	}
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

// amendCount begins to write the count of the transcript t with so many more. It
// writes over the backup of the metadata, which readers do not use while the metadata are
// sound, so the sync of the count runs beside the sync of the transcript. It does nothing
// where the metadata stay as they are or have to be replaced.
func (tx *transaction) amendCount(meta *metadataFile, t *transcript, added int) error {
	if t.cached == nil || !meta.main.sound() {
		return nil
	}
	n := tx.users() + added
	content, err := meta.withTurns(n)
	if err != nil {
		return nil // there is no count
	}
	if meta.writtenTime.IsZero() && tx.s.nameSynced.Same(t.cached.main) {
		return nil // another writer may have renamed the metadata without a sync
	}
	if err := tx.syncName(t.cached); err != nil {
		return err
	}
	a := amendment{content: content, md: meta.md, turns: n, time: vfs.Now(meta.main.stamp.Mtime)}
	a.md.set(member{name: turnsMember, value: strconv.AppendInt(nil, int64(n), 10)})
	a.file, err = tx.file(sessiondir.Metadata).Amend(meta.main.stamp, content, a.time)
	if errors.Is(err, commit.ErrRewrite) {
		return nil
	}
	meta.amended = a
	return err
}
