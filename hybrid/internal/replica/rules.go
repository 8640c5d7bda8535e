package replica

import (
	"errors"
	"os"
	"slices"
	"sync"
)

// Rules are what is remembered beside the states of what may leave, as it stood at one
// moment. They do not change.
type Rules struct {
	redaction    string
	redactionErr error
	deny         []string
	denyErr      error
	local        localOnlyDoc
	localErr     error
}

// Redaction returns the version of the rules of redaction; "" for none.
func (r *Rules) Redaction() (string, error) { return r.redaction, r.redactionErr }

// Globs returns the globs of ids and names of sessions that stay.
func (r *Rules) Globs() ([]string, error) { return r.deny, r.denyErr }

// Err returns why it is not known what stays, so that everything does; nil: it is known.
func (r *Rules) Err() error { return errors.Join(r.denyErr, r.localErr) }

// Keeps reports whether a session is local only. When that cannot be found out, it is:
// nothing leaves by mistake.
func (r *Rules) Keeps(id string) bool {
	return r.localErr != nil || slices.Contains(r.local.Sessions, id)
}

// Released reports whether somebody let the session leave by name.
func (r *Rules) Released(id string) bool {
	return r.localErr == nil && slices.Contains(r.local.Released, id)
}

// rulesCache keeps the rules that were read last, and how their files stood.
type rulesCache struct {
	mu    sync.Mutex // guards what follows
	rules *Rules     // nil: none were read
	files [3]os.FileInfo
	sure  bool // a change of a file shows in its stat
}

// LocalOnlyFile is the name of the file beside the states with the sessions that never
// leave this machine.
const LocalOnlyFile = "local-only.json"

type localOnlyDoc struct {
	V        int      `json:"v"`
	Sessions []string `json:"sessions"`
	Released []string `json:"released,omitempty"`
}
