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
	for _, m := range have {
		for n < len(want) && want[n] != m && want[n].m != nil && want[n].m.role == unstoredRole {
			n++
		}
		if n == len(want) || want[n] != m && !w.stores(want[n], m) {
			return n, false
		}
		n++
	}
	return n, true
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
		for want[n] != m && want[n].m.role == unstoredRole {
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
		if m.m.role == unstoredRole {
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

// extend appends rows to the transcript t, which is sound and known. The
// error Is [sessiondir.ErrOvertaken] when another writer came between.
func (w *writing) extend(t *transcript, rows []Message) error {
	if len(rows) == 0 {
		return nil
	}
	k := t.known
	tail := lines(rows)
	if !k.ended || k.size == 0 {
		return w.rewriteExtended(t, rows, tail)
	}
	if err := w.firmBase(k); err != nil {
		return err
	}
	synced := w.st.opts.Durability == DataSynced
	done, err := w.dir.Extend(sessiondir.Transcript, sessiondir.Extension{
		Main: k.main, Backup: k.backup, Tail: tail, Sync: w.sync(), Mark: synced,
	})
	switch {
	case errors.Is(err, sessiondir.ErrRewrite):
		return w.rewriteExtended(t, rows, tail)
	case errors.Is(err, sessiondir.ErrOverwritten):
		return w.writeRows(nil, slices.Concat(k.rows, rows))
	case err != nil:
		return err
	}
	w.names = w.names || !synced || !done.Marked
	w.wrote = append(w.wrote, sessiondir.Transcript)
	more := k.extended(rows, tail)
	more.main, more.backup, more.at = done.Main, done.Backup, time.Now()
	if done.Timed {
		more.set = done.Main.Mtime
	}
	w.st.learn(w.id, w.s, more)
	return nil
}

// extended returns the knowledge of the file with tail, the lines of rows, at
// its end. The stamps and times are still to be set.
func (k *knowledge) extended(rows []Message, tail []byte) *knowledge {
	n := &knowledge{rows: append(k.rows, rows...), sum: k.sum, size: k.size + int64(len(tail)), ended: true, alien: k.alien}
	n.sum.Write(tail) // never fails
	return n
}

// firmBase makes the name of a main that is not marked durable where an append
// relies on that and this store has not seen to it: DataSynced, which leaves
// the names of what it appends to the file system, and after a failure.
func (w *writing) firmBase(k *knowledge) error {
	was := w.s.firm
	relies := w.st.opts.Durability == DataSynced || w.sync() && was != (sessiondir.Stamp{})
	if !relies || sessiondir.Marked(k.main.Mtime) || was.Same(k.main) {
		return nil
	}
	if err := w.syncNames(); err != nil {
		return err
	}
	w.s.firm = k.main
	return nil
}

// firm makes the name of a marked main durable before another file gets it:
// the other name that it may have on the disk, the backup's, is about to go.
func (w *writing) firm(main *file) error {
	if !sessiondir.Marked(main.stamp.Mtime) {
		return nil
	}
	return w.syncNames()
}

// lines returns the lines of rows.
func lines(rows []Message) []byte {
	size := 0
	for _, m := range rows {
		size += len(m.m.raw) + 1
	}
	out := make([]byte, 0, size)
	for _, m := range rows {
		out = append(append(out, m.m.line()...), '\n')
	}
	return out
}

// rewriteExtended writes the transcript t anew, byte for byte, with tail, the
// lines of rows, at its end. What it was becomes the backup.
func (w *writing) rewriteExtended(t *transcript, rows []Message, tail []byte) error {
	k := t.known
	if !k.ended {
		tail = append([]byte{'\n'}, tail...)
	}
	w.dir.Sweep()
	set := atomicfile.Now(k.main.Mtime)
	err := w.replace(sessiondir.Transcript, set, func(out io.Writer) error {
		src, at, err := w.dir.Open(sessiondir.Transcript)
		if err != nil {
			return err
		}
		if !at.SameContent(k.main) {
			return also(sessiondir.ErrOvertaken, src.Close())
		}
		_, err = io.CopyN(out, src, k.size)
		if errors.Is(err, io.EOF) { // it was cut meanwhile
			err = sessiondir.ErrOvertaken
		}
		if err := also(err, src.Close()); err != nil {
			return err
		}
		_, err = out.Write(tail)
		return err
	}, func() (atomicfile.Keep, error) { return w.protectTranscript(t) })
	if err != nil {
		return err
	}
	more := k.extended(rows, tail)
	more.set = set
	if more.backup, err = w.dir.Former(sessiondir.Transcript, k.main); err != nil {
		return err
	}
	return w.learnWritten(more)
}

// learnWritten keeps k as the content of the file that was just written, or
// tells that another writer came between.
func (w *writing) learnWritten(k *knowledge) (err error) {
	k.main, err = w.dir.Stat(sessiondir.Transcript)
	k.at = time.Now()
	if err == nil && k.main.Size != k.size {
		err = sessiondir.ErrOvertaken
	}
	if err == nil {
		w.st.learn(w.id, w.s, k)
	}
	return err
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
