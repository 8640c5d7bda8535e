package replica

import (
	"encoding/json"
	"slices"
	"sync"
)

// LocalOnly remembers which sessions never leave this machine, and which ones may
// leave whatever became of their parents. Several processes may change it.
type LocalOnly struct {
	states *States

	mu   sync.Mutex // guards what follows
	read bool
	doc  localOnlyDoc
	last *Rules // that [LocalOnly.Refresh] was told of
}

// NewLocalOnly returns what is remembered beside the states.
func NewLocalOnly(s *States) *LocalOnly { return &LocalOnly{states: s} }

// Has reports whether a session is local only, as far as this process read it last.
// When that cannot be found out, it is: nothing leaves by mistake.
func (l *LocalOnly) Has(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(); err != nil {
		return true
	}
	return slices.Contains(l.doc.Sessions, id)
}

// Refresh takes note that other processes may have changed what is remembered: r is
// what stands there now.
func (l *LocalOnly) Refresh(r *Rules) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last != r {
		l.last, l.doc, l.read = r, r.local, r.localErr == nil
	}
}

func (l *LocalOnly) load() error {
	if l.read {
		return nil
	}
	doc, err := l.states.readLocalOnly()
	if err != nil {
		return err
	}
	l.doc, l.read = doc, true
	return nil
}

// Set changes what is remembered of a session; it is durable then.
func (l *LocalOnly) Set(id string, local bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read = false // another process may have changed it
	if err := l.load(); err != nil {
		return err
	}
	doc := localOnlyDoc{V: stateVersion, Sessions: without(l.doc.Sessions, id), Released: without(l.doc.Released, id)}
	if local {
		doc.Sessions = append(doc.Sessions, id)
	} else {
		doc.Released = append(doc.Released, id)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	if err := l.states.Write(LocalOnlyFile, text); err != nil {
		return err
	}
	l.doc = doc
	return nil
}

func without(all []string, id string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == id })
}
