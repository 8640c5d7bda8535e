package sessionstore

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// transcript returns the transcript on disk for writing. A newer state that
// lost its name in a power cut gets it back first. While a marker is there
// and the backup is no transcript, nothing may be written.
func (w *writing) transcript(md Metadata) (*transcript, error) {
	t := w.read(md)
	if t.marked && t.damage != nil {
		return nil, t.damage
	}
	if !t.unfinished {
		return &t, w.keepLater(&t)
	}
	// It is not just given the name: a process that was killed before it
	// synced leaves the same behind. What is written next may be the backup,
	// so the name must be durable by then.
	err := w.replace(sessiondir.Transcript, atomicfile.Now(t.backup.stamp.Mtime), func(out io.Writer) error {
		_, err := out.Write(t.backup.data)
		return err
	}, func() (atomicfile.Keep, error) { return atomicfile.Keep{}, nil })
	if err == nil && w.sync() {
		err = w.syncNames()
	}
	if err != nil {
		return nil, fmt.Errorf("finish the last append: %w", err)
	}
	t = w.read(md)
	return &t, nil
}

// read reads the transcript as the only writer.
func (w *writing) read(md Metadata) transcript {
	return w.st.transcriptIf(w.s, w.dir, w.id, md, func() bool { return true })
}

// keepLater puts a backup aside that is a later state of the transcript t
// than t itself, yet not one that may stand in for it.
func (w *writing) keepLater(t *transcript) error {
	if t.from == fromBackup || t.main.stamp.Size == 0 || !t.backup.found || !t.main.sound() {
		return nil
	}
	if !bytes.HasPrefix(t.backup.data, t.main.data) || !bytes.Contains(t.backup.data[len(t.main.data):], []byte{'\n'}) || !t.backup.stamp.Mtime.After(t.main.stamp.Mtime) {
		return nil
	}
	return w.putAside(t.backup.name)
}

// saveTranscript makes the storable of want the transcript, in the place of t.
func (w *writing) saveTranscript(t *transcript, want []Message) error {
	if t.known != nil && !t.known.alien {
		if n, ok := w.begins(want, t.rows); ok {
			added, err := w.st.storable(want[n:], n)
			if err != nil {
				return err
			}
			t.known = t.known.as(want[:n])
			return w.extend(t, added)
		}
	}
	rows, err := w.st.storable(want, 0)
	if err != nil {
		return err
	}
	return w.writeRows(t, rows)
}

// saveOver is saveTranscript also in the place of what another writer leaves
// meanwhile.
func (w *writing) saveOver(t *transcript, want []Message) error {
	return w.insist(t, func(t *transcript) error { return w.saveTranscript(t, want) })
}

// tries is how often a write is begun anew because a writer that honours no
// lock came between.
const tries = 20

// insist runs do on the transcript t, and again on what another writer has
// put in its place meanwhile.
func (w *writing) insist(t *transcript, do func(*transcript) error) error {
	err := do(t)
	for try := 0; try < tries && errors.Is(err, sessiondir.ErrOvertaken); try++ {
		w.s.forget()
		if t, err = w.transcript(w.metadata().md); err == nil {
			err = do(t)
		}
	}
	return err
}

// begins reports how many messages of want stand for have, all of which is
// stored; ok is false when want does not begin with them. Messages that are
// not stored do not count. Those that this store handed out are compared by
// identity.
func (w *writing) begins(want, have []Message) (n int, ok bool) {
	if same(want, have) {
		return len(have), true
	}
	for _, m := range have {
		for n < len(want) && want[n] != m && want[n].m != nil && want[n].m.at.role == unstoredRole {
			n++
		}
		if n == len(want) || want[n] != m && !w.stores(want[n], m) {
			return n, false
		}
		n++
	}
	return n, true
}

// same reports whether want begins with the very messages of have.
func same(want, have []Message) bool {
	if len(want) < len(have) {
		return false
	}
	const step = 64 // compared as one piece of memory
	for len(have) >= step {
		if *(*[step]Message)(want) != *(*[step]Message)(have) {
			return false
		}
		want, have = want[step:], have[step:]
	}
	return slices.Equal(want[:len(have)], have)
}

// as returns k with the messages of want, which stand for k's, where they are
// the same lines: so the next comparison is by identity again.
func (k *knowledge) as(want []Message) *knowledge {
	last := len(k.rows) - 1
	if last < 0 || want[len(want)-1] == k.rows[last] {
		return k
	}
	other, n := *k, 0
	other.rows = slices.Clone(k.rows)
	for i, m := range k.rows {
		for want[n] != m && want[n].m.at.role == unstoredRole {
			n++
		}
		if bytes.Equal(want[n].m.raw, m.m.raw) {
			other.rows[i] = want[n]
		}
		n++
	}
	return &other
}

// stores reports whether a save of m writes the line of row.
func (w *writing) stores(m, row Message) bool {
	if m.m == nil {
		return false
	}
	if w.st.opts.Portable {
		m = m.portable()
	}
	return bytes.Equal(m.m.raw, row.m.raw)
}

// storable returns the messages that are stored; the first is called at.
func (st *Store) storable(msgs []Message, at int) ([]Message, error) {
	rows := make([]Message, 0, len(msgs))
	for i, m := range msgs {
		if m.m == nil {
			return nil, zeroMessage(at + i)
		}
		if m.m.at.role == unstoredRole {
			continue
		}
		if st.opts.Portable {
			m = m.portable()
		}
		rows = append(rows, m)
	}
	return rows, nil
}

func zeroMessage(i int) error {
	return fmt.Errorf("message %d: %w: it is the zero Message", i, ErrUnstorable)
}

// writeRows writes rows as the whole transcript in the place of t, which is
// nil where there is none to protect. The error Is [sessiondir.ErrOvertaken]
// when another writer came between.
func (w *writing) writeRows(t *transcript, rows []Message) error {
	w.dir.Sweep()
	k := &knowledge{rows: rows[:len(rows):len(rows)], ended: true}
	after := time.Time{}
	if t != nil {
		after = t.main.stamp.Mtime
	}
	k.set = atomicfile.Now(after)
	if len(rows) == 0 {
		k.set = sessiondir.EmptyTime(after)
	}
	err := w.replace(sessiondir.Transcript, k.set, func(out io.Writer) error {
		size := int64(0)
		for _, m := range rows {
			size += int64(len(m.m.raw)) + 1
		}
		atomicfile.Reserve(out, size)
		buf := bufio.NewWriterSize(io.MultiWriter(out, &k.sum), 256<<10)
		for _, m := range rows {
			n, _ := buf.Write(m.m.line()) // Flush tells of errors
			buf.WriteByte('\n')
			k.size += int64(n) + 1
		}
		return buf.Flush()
	}, func() (atomicfile.Keep, error) { return w.protectTranscript(t) })
	if err != nil {
		return err
	}
	if t != nil && t.marked {
		if err := w.unmark(); err != nil {
			return err
		}
	}
	return w.learnWritten(k)
}

// protectTranscript prepares the replacement of t, which is nil where there is
// none. While a marker is there, nothing but the half-written file goes.
func (w *writing) protectTranscript(t *transcript) (keep atomicfile.Keep, err error) {
	if t == nil || t.marked {
		return keep, nil
	}
	if err := w.firm(&t.main); err != nil {
		return keep, err
	}
	return w.protect(&t.main, &t.backup, t.from)
}

// unmark removes the marker of a newer Python tool, after the transcript that
// replaces the half-written one is durable.
func (w *writing) unmark() error {
	if err := w.dir.Sync(); err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	if err := w.dir.Remove(sessiondir.Marker); err != nil {
		return fmt.Errorf("remove marker: %w", err)
	}
	if err := w.dir.Sync(); err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	return nil
}
