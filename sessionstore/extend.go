package sessionstore

import (
	"errors"
	"io"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/commit"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// extend appends rows to the transcript t, which is sound and cached. The error
// is one of [overtaken] when another writer came between.
func (tx *transaction) extend(t *transcript, rows []Message) error {
	if len(rows) == 0 {
		return nil
	}
	c := t.cached
	tail := lines(rows)
	if !c.ended || c.size == 0 {
		return tx.rewriteExtended(t, rows, tail)
	}
	if err := tx.syncName(c); err != nil {
		return err
	}
	set := writtenAt(c.main.Mtime)
	done, err := tx.file(sessiondir.Transcript).Append(commit.Addition{
		Main: c.main, Backup: c.backup, End: c.end, Lines: tail, Time: set,
	})
	switch {
	case errors.Is(err, commit.ErrRewrite):
		return tx.rewriteExtended(t, rows, tail)
	case errors.Is(err, commit.ErrOverwritten):
		return tx.writeRows(nil, slices.Concat(c.rows, rows))
	case err != nil:
		return err
	}
	tx.noteRename(sessiondir.Transcript)
	more := c.extended(rows, tail)
	more.backup = done.Backup
	return tx.putAppended(c, more, set, done)
}

// putAppended is putWritten for the transcript was, which was appended to.
func (tx *transaction) putAppended(was, c *cachedTranscript, set time.Time, done commit.Result) error {
	err := tx.putWritten(c, set, done)
	if err == nil {
		tx.st.noteAppend(tx.s, was, c)
	}
	return err
}

// syncName syncs the name of the transcript c unless this store has done so. Another
// writer may have given it that name, and have been killed before it synced it. Then
// the disk may still have the name lead to the file that the append is about to
// write.
func (tx *transaction) syncName(c *cachedTranscript) error {
	if !tx.sync() || tx.s.nameSynced.Same(c.main) {
		return nil
	}
	if err := tx.syncNames(); err != nil {
		return err
	}
	tx.s.nameSynced = c.main
	return nil
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
func (tx *transaction) rewriteExtended(t *transcript, rows []Message, tail []byte) error {
	c := t.cached
	if !c.ended {
		tail = append([]byte{'\n'}, tail...)
	}
	tx.dir.Sweep()
	set := writtenAt(c.main.Mtime)
	done, err := tx.file(sessiondir.Transcript).Replace(commit.Replacement{
		Was:    c.main,
		Time:   set,
		Write:  func(out io.Writer) error { return tx.copyExtended(out, c, tail) },
		Rotate: func() (bool, error) { return tx.rotateTranscript(t) },
	})
	if errors.Is(err, commit.ErrOverwritten) {
		return tx.writeRows(nil, slices.Concat(c.rows, rows))
	}
	if err != nil {
		return err
	}
	tx.noteRename(sessiondir.Transcript)
	more := c.extended(rows, tail)
	more.backup = done.Backup
	return tx.putAppended(c, more, set, done)
}

// copyExtended copies the transcript's file to out, and writes tail after it. The
// error is [commit.ErrOvertaken] when the file is not c any more.
func (tx *transaction) copyExtended(out io.Writer, c *cachedTranscript, tail []byte) error {
	src, at, err := tx.dir.Open(sessiondir.Transcript)
	if err != nil {
		return err
	}
	if !at.SameContent(c.main) {
		return joinErrors(commit.ErrOvertaken, src.Close())
	}
	_, err = io.CopyN(out, src, c.size)
	if errors.Is(err, io.EOF) { // it was cut meanwhile
		err = commit.ErrOvertaken
	}
	if err := joinErrors(err, src.Close()); err != nil {
		return err
	}
	_, err = out.Write(tail)
	return err
}
