package hybrid

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
)

// rights remembers which sessions never leave this machine.
type rights struct {
	states *states

	mu    sync.Mutex // guards what follows
	read  bool
	names []string
}

const rightsFile = "local-only.json"

type rightsDoc struct {
	V        int      `json:"v"`
	Sessions []string `json:"sessions"`
}

// local reports whether a session is local only. When that cannot be found
// out, it is: nothing leaves by mistake.
func (r *rights) local(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.load(); err != nil {
		return true
	}
	return slices.Contains(r.names, id)
}

func (r *rights) load() error {
	if r.read {
		return nil
	}
	text, err := r.states.read(rightsFile)
	if errors.Is(err, fs.ErrNotExist) {
		r.read = true
		return nil
	}
	if err != nil {
		return err
	}
	var doc rightsDoc
	if err := json.Unmarshal(text, &doc); err != nil || doc.V != stateVersion {
		return fmt.Errorf("read %s: not of this version", rightsFile)
	}
	r.names, r.read = doc.Sessions, true
	return nil
}

const denyFile = "deny.json"

type denyDoc struct {
	V     int      `json:"v"`
	Globs []string `json:"globs"`
}

// globs keeps what was given for the next time, or returns what was given the
// last time when given is nil.
func (s *states) globs(given []string) ([]string, error) {
	var doc denyDoc
	text, err := s.read(denyFile)
	missing := errors.Is(err, fs.ErrNotExist)
	if err == nil && (json.Unmarshal(text, &doc) != nil || doc.V != stateVersion) {
		err = fmt.Errorf("read %s: not of this version", denyFile)
	}
	switch {
	case missing && len(given) == 0:
		return given, nil
	case given == nil || err == nil && slices.Equal(doc.Globs, given):
		return doc.Globs, err
	}
	if text, err = json.Marshal(denyDoc{stateVersion, given}); err != nil {
		return given, err
	}
	return given, s.write(denyFile, text)
}

// set changes what is remembered of a session; it is durable then.
func (r *rights) set(id string, local bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.load(); err != nil {
		return err
	}
	names := slices.DeleteFunc(slices.Clone(r.names), func(s string) bool { return s == id })
	if local {
		names = append(names, id)
	}
	text, err := json.Marshal(rightsDoc{stateVersion, names})
	if err != nil {
		return err
	}
	if err := r.states.write(rightsFile, text); err != nil {
		return err
	}
	r.names = names
	return nil
}
