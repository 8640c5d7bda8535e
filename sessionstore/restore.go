package sessionstore

import (
	"io"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// restoreFrom writes the bytes of the file name as the transcript in the place
// of t. The error Is [sessiondir.ErrOvertaken] when another writer came
// between.
func (w *writing) restoreFrom(t *transcript, name string) error {
	src, at, err := w.dir.Open(name)
	if err != nil {
		return err
	}
	w.dir.Sweep()
	set := atomicfile.Now(t.main.stamp.Mtime)
	if at.Size == 0 {
		set = sessiondir.EmptyTime(t.main.stamp.Mtime)
	}
	err = w.replace(sessiondir.Transcript, set, func(out io.Writer) error {
		_, err := io.Copy(out, src)
		return err
	}, func() (atomicfile.Keep, error) { return w.protectTranscript(t) })
	if err = also(err, src.Close()); err != nil {
		return err
	}
	w.s.forget()
	if t.marked {
		return w.unmark()
	}
	return nil
}
