package hybrid

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/inuse"
	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// python is another program that has a session open. The older one keeps the
// lines in memory and writes all of them; the newer one owns the session and
// appends.
type python struct {
	rows  []byte              // as it last saw or left the transcript
	wrote time.Time           // zero: it has not
	store *sessionstore.Store // of the newer one
	hold  *sessionstore.Hold
}

// oldPython opens a session, saves it, or leaves.
func (w *world) oldPython(d *gadget, id string) {
	p := d.pythons[id]
	switch {
	case id == "" || p != nil && p.store != nil:
	case p == nil:
		rows, err := os.ReadFile(filepath.Join(d.dir, id, "transcript.jsonl"))
		if err != nil || len(rows) == 0 || rows[len(rows)-1] != '\n' {
			return // it would refuse to begin
		}
		d.pythons[id] = &python{rows: rows}
	case w.rand.IntN(4) == 0:
		delete(d.pythons, id)
	default:
		w.untouched(d, id, p)
		w.losing(d, id, func() { w.oldSave(d, id, p) })
	}
}

// oldSave copies the transcript to its backup, and renames a new one over it.
func (w *world) oldSave(d *gadget, id string, p *python) {
	path := filepath.Join(d.dir, id, "transcript.jsonl")
	msgs := w.turn()
	for _, m := range msgs {
		p.rows = append(m.AppendTo(p.rows), '\n')
	}
	was, err := os.ReadFile(path)
	require.NoError(w.t, err)
	require.NoError(w.t, os.WriteFile(path+".backup", was, 0o600))
	require.NoError(w.t, os.WriteFile(path+".tmp", p.rows, 0o600))
	d.life.setTime(path + ".tmp")
	err = os.Rename(path+".tmp", path)
	d.life.setTime(filepath.Dir(path))
	p.wrote = time.Now()
	w.ack(d, id, msgs, err)
}

// untouched requires a transcript to be as the program left it that may have
// its lines in memory: the newer one while it owns the session, the older one
// for a time after its last save.
func (w *world) untouched(d *gadget, id string, p *python) {
	if p.store != nil || !p.wrote.IsZero() && time.Since(p.wrote) < inuse.Window {
		require.Equal(w.t, string(p.rows), w.file(d, id, "transcript.jsonl"), "%s: %s was written under another program", d.name, id)
	}
}

// newPython opens a session, appends to it, or leaves.
func (w *world) newPython(d *gadget, id string) {
	p := d.pythons[id]
	switch {
	case id == "" || p != nil && p.store == nil:
	case p == nil:
		w.newBegin(d, id)
	case w.rand.IntN(4) == 0:
		w.leave(d, id)
	default:
		w.untouched(d, id, p)
		w.newAppend(d, id)
		p.rows = []byte(w.file(d, id, "transcript.jsonl"))
	}
}

func (w *world) newBegin(d *gadget, id string) {
	st, err := sessionstore.Open(d.dir, &sessionstore.Options{Workspace: filepath.Dir(d.dir)})
	require.NoError(w.t, err)
	hold, err := st.Acquire(w.ctx(), id, sessionstore.Owner{App: "python"})
	if err != nil {
		w.expected(d, err)
		require.NoError(w.t, st.Close())
		return
	}
	d.pythons[id] = &python{store: st, hold: hold, rows: []byte(w.file(d, id, "transcript.jsonl"))}
}

// newAppend appends under the metadata lock, with the marker that tells others
// that it does.
func (w *world) newAppend(d *gadget, id string) {
	root, err := os.OpenRoot(d.dir)
	require.NoError(w.t, err)
	defer func() { require.NoError(w.t, root.Close()) }()
	held, err := lock.Acquire(w.ctx(), root, "."+id+".metadata.lock", lock.Options{})
	if errors.Is(err, lock.ErrBusy) {
		return
	}
	require.NoError(w.t, err)
	defer func() { require.NoError(w.t, held.Unlock()) }()
	path := filepath.Join(d.dir, id, "transcript.jsonl")
	if rows, err := os.ReadFile(path); err != nil || len(rows) == 0 || !bytes.HasSuffix(rows, []byte("\n")) {
		return
	}
	require.NoError(w.t, os.WriteFile(path+".append-pending", nil, 0o600))
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(w.t, err)
	msgs := w.turn()
	for _, m := range msgs {
		_, err := f.Write(append(m.AppendTo(nil), '\n'))
		require.NoError(w.t, err)
	}
	err = errors.Join(f.Close(), os.Remove(path+".append-pending"))
	d.life.setTime(path)
	d.life.setTime(filepath.Dir(path))
	w.ack(d, id, msgs, err)
}

func (w *world) leave(d *gadget, id string) {
	if p := d.pythons[id]; p != nil && p.store != nil {
		require.NoError(w.t, errors.Join(p.hold.Release(), p.store.Close()))
	}
	delete(d.pythons, id)
}

func (w *world) endPythons(d *gadget) {
	for id := range d.pythons {
		w.leave(d, id)
	}
}
