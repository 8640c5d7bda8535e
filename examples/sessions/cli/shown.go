package cli

import (
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// A transcript of at least largeFrom bytes is shown a part at a time: it is never in
// memory as a whole. A part is partSize bytes, and a few messages more; garbage is collected
// before it makes more than partMemory of them.
const (
	largeFrom  = 4 << 20
	partSize   = 256 << 10
	partMemory = 32 << 20
	partRows   = 16 // messages of a part that are read at once, at most
	heldRows   = 16 // messages that are held until their results are there
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
	return &shown{&sessionstore.Session{ID: t.id, Metadata: md}, sum.Messages, a.parts(t, 1, sum.Messages)}
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

// parts yields the messages of a session from first to last. No view is open while one is
// yielded, so a reader that waits delays no append.
func (a *app) parts(t target, first, last int) iter.Seq2[sessionstore.Message, error] {
	return func(yield func(sessionstore.Message, error) bool) {
		former := debug.SetMemoryLimit(-1)
		debug.SetMemoryLimit(min(former, partMemory))
		defer debug.SetMemoryLimit(former)
		for next := first; next <= last; {
			rows, err := a.part(t, next, last)
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

// part reads messages from one on, until they are about partSize bytes.
func (a *app) part(t target, first, last int) (rows []sessionstore.Message, err error) {
	v, err := t.store.View(a.ctx, t.id)
	if v == nil || err != nil {
		return nil, err
	}
	defer func() { err = join(err, v.Close()) }()
	if v.Len() < last {
		return nil, fmt.Errorf("session %s: it became shorter while it was shown", t.id)
	}
	for n, left := 1, partSize; left > 0 && first <= last; { // n goes by the size of those before
		some, err := v.Range(a.ctx, first, min(n, last-first+1))
		if err != nil || len(some) == 0 {
			return rows, err
		}
		rows, first = append(rows, some...), first+len(some)
		size := weight(some)
		left -= size
		n = max(1, min(partRows, len(some)*left/size))
	}
	return rows, nil
}

// weight returns about how many bytes messages are.
func weight(rows []sessionstore.Message) (bytes int) {
	for _, m := range rows {
		bytes += len(m.Content()) + 100
	}
	return bytes
}

// talk is conversation for messages that come one after the other. Calls and their results
// are shown together: the messages before an answer of the assistant have all results of
// the calls among them. It ends when the user leaves the pager.
func (a *app) talk(rows iter.Seq2[sessionstore.Message, error], form toolForm) error {
	var held []sessionstore.Message
	size := 0
	for m, err := range rows {
		if a.Unread() {
			return nil
		}
		if err != nil {
			return join(a.conversation(held, form), err)
		}
		if m.Role() == "assistant" && (len(held) >= heldRows || size >= partSize) {
			if err := a.conversation(held, form); err != nil {
				return err
			}
			held, size = nil, 0
		}
		held, size = append(held, m), size+weight([]sessionstore.Message{m})
	}
	return a.conversation(held, form)
}
