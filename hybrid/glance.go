package hybrid

import (
	"context"
	"os"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// glance is what a look at a session's files from outside tells: when it is
// the same as before, nothing was written.
type glance [8]struct {
	size  int64
	mtime int64
}

// watched are the names that a glance takes in.
func watched() [8]string {
	return [8]string{
		"transcript.jsonl", "metadata.json", "config.md", "state.json",
		"events.jsonl", "phase_outputs.jsonl", "session_conversation.jsonl", "state_history.jsonl",
	}
}

func glanceAt(dir string) (g glance) {
	for i, name := range watched() {
		fi, err := os.Lstat(filepath.Join(dir, name))
		if err != nil {
			g[i].size = -1
			continue
		}
		g[i].size, g[i].mtime = fi.Size(), fi.ModTime().UnixNano()
	}
	return g
}

// scan marks the sessions whose files changed since the last scan, and those
// that are gone. Nothing of a session is opened.
func (w *worker) scan(ctx context.Context) {
	infos, err := w.store.List(ctx, &sessionstore.ListOptions{All: true})
	if err != nil {
		if ctx.Err() == nil {
			w.log.Warn("sessions not listed", "err", err)
		}
		return
	}
	found := make(map[string]glance, len(infos))
	for _, info := range infos {
		found[info.ID] = glanceAt(filepath.Join(w.store.Dir(), info.ID))
	}
	w.mu.Lock()
	last := w.seen
	w.seen = found
	w.mu.Unlock()
	for id, g := range found {
		if was, ok := last[id]; !ok || was != g {
			w.marks.mark(id, written)
		}
	}
	for id := range last {
		if _, ok := found[id]; !ok {
			w.marks.mark(id, written)
		}
	}
}

// knownRevision returns the revision of the tip that this replica knows.
func (e *engine) knownRevision(sid, id string) int64 {
	return e.states.load(sid, id).revision(sid)
}

// drain visits what is marked, and writes catalogue entries that wait.
func (e *engine) drain(ctx context.Context) error {
	infos, err := e.store.List(ctx, &sessionstore.ListOptions{All: true})
	if err != nil {
		return err
	}
	ids := make([]string, len(infos))
	for i, info := range infos {
		ids[i] = info.ID
	}
	e.marks.take()
	errs := newErrors()
	e.parallel(ids, func(id string) {
		if ctx.Err() != nil {
			return
		}
		out, _ := e.visit(ctx, id, want{last: true})
		errs.add(wrap("sync", id, out.err))
	})
	errs.add(ctx.Err())
	return errs.all()
}
