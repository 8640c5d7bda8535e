package checkpoint

import (
	"fmt"
	"path/filepath"
)

// Open opens the session in the directory dir.
func (st *Store) Open(dir string) (*Session, error) {
	path, err := filepath.Abs(dir)
	if err == nil {
		var s State
		if s, err = st.read(path); err == nil {
			return &Session{st: st, dir: path, state: s}, nil
		}
	}
	return nil, fmt.Errorf("open session: %w", err)
}

func (st *Store) read(dir string) (State, error) {
	f, err := st.openFolder(dir)
	if err != nil {
		return State{}, err
	}
	defer f.Close()
	return f.read()
}
