package cli

import (
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// A transcript of at least largeFrom bytes is shown a part at a time: it is never in
// memory as a whole. A part is partSize bytes, and a few messages more.
const (
	largeFrom = 4 << 20
	partSize  = 256 << 10
	partRows  = 16
)

// shown is a session with its messages.
type shown struct {
	*sessionstore.Session // without Messages where these are read a part at a time
	count                 int
	rows                  iter.Seq2[sessionstore.Message, error]
}

// shown opens a session to show it. The error may come with what could be read. Damage is
// looked for, and told, as by [sessionstore.Store.Load].
func (a *app) shown(t target) (*shown, error) {
	if s := a.openLarge(t); s != nil {
		return s, nil
	}
	s, err := t.store.Load(a.ctx, t.id)
	if s == nil {
		return nil, err
	}
	return &shown{s, len(s.Messages), inMemory(s.Messages)}, err
}

// openLarge is shown for a large session without damage. It returns nil for all others.
func (a *app) openLarge(t target) *shown {
	fi, err := os.Stat(filepath.Join(t.dir(), transcriptName))
	if err != nil || !fi.Mode().IsRegular() || fi.Size() < largeFrom {
		return nil
	}
	sum, err := t.store.Summary(a.ctx, t.id)
	if err != nil || sum.Damaged {
		return nil
	}
	md, err := t.store.Metadata(a.ctx, t.id)
	if err != nil || !validFile(filepath.Join(t.dir(), "metadata.json")) { // which a backup may have replaced
		return nil
	}
	return &shown{&sessionstore.Session{ID: t.id, Metadata: md}, sum.Messages, a.parts(t, sum.Messages)}
}

// validFile reports whether a file is JSON.
func validFile(path string) bool {
	fi, err := os.Stat(path)
	if err != nil || !fi.Mode().IsRegular() {
		return false
	}
	text, err := os.ReadFile(path)
	return err == nil && json.Valid(text)
}

// inMemory yields messages that are in memory.
func inMemory(rows []sessionstore.Message) iter.Seq2[sessionstore.Message, error] {
	return func(yield func(sessionstore.Message, error) bool) {
		for _, m := range rows {
			if !yield(m, nil) {
				return
			}
		}
	}
}

// parts yields the first messages of a session. No view is open while one is yielded, so
// a reader that waits delays no append.
func (a *app) parts(t target, total int) iter.Seq2[sessionstore.Message, error] {
	return func(yield func(sessionstore.Message, error) bool) {
		for next := 1; next <= total; {
			rows, err := a.part(t, next, total)
			for _, m := range rows {
				if !yield(m, nil) {
					return
				}
			}
			if err != nil {
				yield(sessionstore.Message{}, err)
				return
			}
			next += len(rows)
		}
	}
}

// part reads messages from one on.
func (a *app) part(t target, first, total int) (rows []sessionstore.Message, err error) {
	v, err := t.store.View(a.ctx, t.id)
	if v == nil || err != nil {
		return nil, err
	}
	defer func() { err = join(err, v.Close()) }()
	if v.Len() < total {
		return nil, fmt.Errorf("session %s: it became shorter while it was shown", t.id)
	}
	for size := 0; size < partSize && first+len(rows) <= total; {
		more, err := v.Range(a.ctx, first+len(rows), min(partRows, total-first-len(rows)+1))
		if err != nil || len(more) == 0 {
			return rows, err
		}
		for _, m := range more {
			size += len(m.Content()) + 100
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// talk is conversation for messages that come one after the other. Calls and their results
// are shown together: the messages before an answer of the assistant have all results of
// the calls among them.
func (a *app) talk(rows iter.Seq2[sessionstore.Message, error], form toolForm) error {
	var held []sessionstore.Message
	for m, err := range rows {
		if err != nil {
			return join(a.conversation(held, form), err)
		}
		if m.Role() == "assistant" && len(held) >= partRows {
			if err := a.conversation(held, form); err != nil {
				return err
			}
			held = nil
		}
		held = append(held, m)
	}
	return a.conversation(held, form)
}
