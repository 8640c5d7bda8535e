package sessionstore

import (
	"os"
	"path/filepath"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
)

// initialMetadata completes the metadata of a new session, as the reference's command
// line does: existing members first. turns is the number of messages that a person wrote.
func (st *Store) initialMetadata(id string, md Metadata, turns int) Metadata {
	full := mustMetadata(NewMetadata(struct {
		ID      string `json:"session_id"`
		Created string `json:"created"`
		Bundle  string `json:"bundle"`
		Model   string `json:"model"`
		Turns   int    `json:"turn_count"`
		Dir     string `json:"working_dir"`
	}{id, pytime.Format(st.opts.Now().UTC().Truncate(time.Microsecond)), "unknown", "unknown", turns, st.workspace()}))
	for _, m := range full.all() {
		if _, given := md.lookup(m.name); !given {
			md.set(m)
		}
	}
	return md
}

// workspace returns the directory that new sessions belong to.
func (st *Store) workspace() string {
	dir := st.opts.Workspace
	if dir == "" {
		dir, _ = os.Getwd() // "" in a process without a working directory
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		return resolved
	}
	return dir
}
