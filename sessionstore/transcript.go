package sessionstore

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// transcript returns the transcript on disk for writing. A newer state that
// lost its name in a power cut gets it back first. While a marker is there
// and the backup is no transcript, nothing may be written.
func (w *writing) transcript(md Metadata) (*transcript, error) {
	t := w.st.transcriptOf(w.s, w.dir, w.id, md)
	if t.marked && t.damage != nil {
		return nil, t.damage
	}
	if !t.unfinished {
		return &t, w.keepLater(&t)
	}
	if err := w.dir.Exchange(sessiondir.Transcript, sessiondir.Backup(sessiondir.Transcript)); err != nil {
		return nil, fmt.Errorf("finish the last append: %w", err)
	}
	w.names = true
	t = w.st.transcriptOf(w.s, w.dir, w.id, md)
	return &t, nil
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
	if n := len(t.rows); t.known != nil && !t.known.alien && begins(want, t.rows) {
		added, err := storable(want[n:], n)
		if err != nil {
			return err
		}
		err = w.extend(t, added)
		if !errors.Is(err, sessiondir.ErrOvertaken) {
			return err
		}
		now := w.reread()
		t = &now
	}
	rows, err := storable(want, 0)
	if err != nil {
		return err
	}
	return w.writeRows(t, rows)
}

// reread returns the transcript that another writer has left meanwhile.
func (w *writing) reread() transcript {
	w.s.forget()
	return w.st.transcriptOf(w.s, w.dir, w.id, w.metadata().md)
}

// tries is how often a write is begun anew because a writer that honours no
// lock came between.
const tries = 20

// begins reports whether want begins with have, all of which is stored.
// Messages that were handed out by this store are compared by identity.
func begins(want, have []Message) bool {
	if len(want) < len(have) {
		return false
	}
	for i, m := range have {
		if w := want[i]; w != m && (w.m == nil || string(w.m.raw) != string(m.m.raw)) {
			return false
		}
	}
	return true
}

// storable returns the messages that are stored; the first is called at.
func storable(msgs []Message, at int) ([]Message, error) {
	rows := make([]Message, 0, len(msgs))
	for i, m := range msgs {
		if m.m == nil {
			return nil, zeroMessage(at + i)
		}
		if m.m.role != unstoredRole {
			rows = append(rows, m)
		}
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
	synced := w.st.opts.Durability == DataSynced
	if !synced && sessiondir.Marked(k.main.Mtime) {
		// The name of the file that is about to be written in the place of
		// the backup may be the transcript's on the disk still.
		if err := w.dir.Sync(); err != nil {
			return fmt.Errorf("sync directory: %w", err)
		}
	}
	done, err := w.dir.Extend(sessiondir.Transcript, sessiondir.Extension{
		Main: k.main, Backup: k.backup, Tail: tail, Sync: w.sync(), Mark: synced,
	})
	switch {
	case errors.Is(err, sessiondir.ErrRewrite):
		return w.rewriteExtended(t, rows, tail)
	case err != nil:
		return err
	}
	w.names = w.names || !synced || !done.Timed
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

// lines returns the lines of rows.
func lines(rows []Message) []byte {
	size := 0
	for _, m := range rows {
		size += len(m.m.raw) + 1
	}
	out := make([]byte, 0, size)
	for _, m := range rows {
		out = append(append(out, m.m.raw...), '\n')
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
	if err := w.protect(&t.main, &t.backup, fromMain); err != nil {
		return err
	}
	set, err := w.replace(sessiondir.Transcript, k.main.Mtime, func(out io.Writer) error {
		src, _, err := w.dir.Open(sessiondir.Transcript)
		if err != nil {
			return err
		}
		_, err = io.CopyN(out, src, k.size)
		if err := also(err, src.Close()); err != nil {
			return err
		}
		_, err = out.Write(tail)
		return err
	})
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
// nil where there is none to protect. If another writer comes between, it is
// replaced too, and stands in the backup.
func (w *writing) writeRows(t *transcript, rows []Message) error {
	err := w.writeOnce(t, rows)
	for try := 0; try < tries && errors.Is(err, sessiondir.ErrOvertaken); try++ {
		now := w.reread()
		err = w.writeOnce(&now, rows)
	}
	return err
}

func (w *writing) writeOnce(t *transcript, rows []Message) error {
	if t != nil && !t.marked {
		if err := w.protect(&t.main, &t.backup, t.from); err != nil {
			return err
		}
	}
	k := &knowledge{rows: rows[:len(rows):len(rows)], ended: true}
	after := time.Time{}
	if t != nil {
		after = t.main.stamp.Mtime
	}
	set, err := w.replace(sessiondir.Transcript, after, func(out io.Writer) error {
		buf := bufio.NewWriterSize(io.MultiWriter(out, &k.sum), 256<<10)
		for _, m := range rows {
			buf.Write(m.m.raw)
			buf.WriteByte('\n')
			k.size += int64(len(m.m.raw)) + 1
		}
		return buf.Flush()
	})
	if err != nil {
		return err
	}
	if t != nil && t.marked {
		if err := w.unmark(); err != nil {
			return err
		}
	}
	k.set = set
	return w.learnWritten(k)
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
