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
	if !t.backup.found || !t.main.sound() || !bytes.HasPrefix(t.backup.data, t.main.data) {
		return nil
	}
	if !bytes.Contains(t.backup.data[len(t.main.data):], []byte{'\n'}) || !t.backup.stamp.Mtime.After(t.main.stamp.Mtime) {
		return nil
	}
	return w.putAside(t.backup.name)
}

// saveTranscript makes the storable of want the transcript, in the place of t.
func (w *writing) saveTranscript(t *transcript, want []Message) error {
	if n := len(t.rows); t.known != nil && !w.born && begins(want, t.rows) {
		added, err := storable(want[n:], n)
		if err != nil {
			return err
		}
		return w.extend(t, added)
	}
	rows, err := storable(want, 0)
	if err != nil {
		return err
	}
	return w.writeRows(t, rows)
}

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

// extend appends rows to the transcript t, which is sound and known.
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
	at := time.Now()
	done, err := w.dir.Extend(sessiondir.Transcript, sessiondir.Extension{
		Main: k.main, Backup: k.backup, Tail: tail, Sync: w.sync(), Mark: synced, Now: at,
	})
	switch {
	case errors.Is(err, sessiondir.ErrRewrite):
		return w.rewriteExtended(t, rows, tail)
	case errors.Is(err, sessiondir.ErrOvertaken):
		return w.writeRows(nil, append(k.rows[:len(k.rows):len(k.rows)], rows...))
	case err != nil:
		return err
	}
	w.names = w.names || !done.Marked
	w.wrote = append(w.wrote, sessiondir.Transcript)
	w.st.learn(w.id, w.s, k.extended(rows, tail, done.Main, done.Backup, at))
	return nil
}

// extended returns the knowledge of the file with tail, the lines of rows, at
// its end.
func (k *knowledge) extended(rows []Message, tail []byte, main, backup sessiondir.Stamp, at time.Time) *knowledge {
	n := &knowledge{rows: append(k.rows, rows...), sum: k.sum, size: k.size + int64(len(tail)), ended: true, main: main, backup: backup, at: at}
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
	if err := w.protect(&t.main, &t.backup, &t.main); err != nil {
		return err
	}
	err := w.replace(sessiondir.Transcript, func(out io.Writer) error {
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
	at := time.Now()
	main, backup, err := w.stamps()
	if err != nil {
		return err
	}
	w.st.learn(w.id, w.s, k.extended(rows, tail, main, backup, at))
	return nil
}

func (w *writing) stamps() (main, backup sessiondir.Stamp, err error) {
	main, err = w.dir.Stat(sessiondir.Transcript)
	if err != nil {
		return main, backup, err
	}
	backup, err = w.dir.Stat(sessiondir.Backup(sessiondir.Transcript))
	return main, backup, err
}

// writeRows writes rows as the whole transcript in the place of t, which is
// nil where there is none to protect.
func (w *writing) writeRows(t *transcript, rows []Message) error {
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
	err := w.replaceLater(sessiondir.Transcript, after, func(out io.Writer) error {
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
	k.at = time.Now()
	if k.main, err = w.dir.Stat(sessiondir.Transcript); err != nil {
		return err
	}
	w.st.learn(w.id, w.s, k)
	return nil
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
