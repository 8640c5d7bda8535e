package sessionstore

import (
	"errors"
	"io"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

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
		Main: k.main, Backup: k.backup, End: k.end, Tail: tail, Sync: w.sync(), Mark: synced,
	})
	switch {
	case errors.Is(err, sessiondir.ErrRewrite):
		return w.rewriteExtended(t, rows, tail)
	case errors.Is(err, sessiondir.ErrOverwritten):
		return w.writeRows(nil, slices.Concat(k.rows, rows))
	case err != nil:
		return err
	}
	w.names = w.names || !synced || !done.Firm
	w.wrote = append(w.wrote, sessiondir.Transcript)
	more := k.extended(rows, tail)
	more.main, more.backup, more.at = done.Main, done.Backup, time.Now()
	if done.Timed {
		more.set = done.Main.Mtime
	}
	w.st.learn(w.id, w.s, more)
	return nil
}

// keptEnd is how many of the last bytes of a transcript are kept at most.
const keptEnd = 64 << 10

// extended returns the knowledge of the file with tail, the lines of rows, at
// its end. The stamps and times are still to be set.
func (k *knowledge) extended(rows []Message, tail []byte) *knowledge {
	n := &knowledge{rows: append(k.rows, rows...), sum: k.sum, size: k.size + int64(len(tail)), ended: true, alien: k.alien}
	n.sum.Write(tail) // never fails
	if len(tail) <= keptEnd {
		n.end = slices.Concat(k.end[max(0, len(k.end)-sessiondir.MarkTail):], tail)
	}
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
