package ownership

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Names of the files that hosts share.
const (
	LockName       = "session.lock"
	OwnerName      = "owner.json"
	CheckpointName = "checkpoint.json" // legacy: read by some hosts, written by none
	FenceName      = "transfer-fence.json"
)

// An Identity names a root session.
type Identity struct {
	Workspace string // the directory that the session works in
	SessionID string
}

// A Session is the place of a root session's shared state. Its paths are
// computed; nothing need exist.
type Session struct {
	ID         string
	Workspace  string // canonical
	StateRoot  string
	NativeRoot string // $AMPLIFIER_HOME or ~/.amplifier

	// Sessions is the sessions directory of a session that hosts do not look for there,
	// such as a copy. The shared state then belongs to this directory alone: StateRoot is
	// a directory in it, with one directory for each session. Empty: hosts look for the
	// session in its directory.
	Sessions string

	Alone bool // no other process takes the lock; see [lock.Options]
}

// Locate returns the place of the session of an existing workspace. Where the reference
// has no ownership lock the error is [errors.ErrUnsupported].
func Locate(env Env, id Identity) (Session, error) {
	if !supported {
		return Session{}, fmt.Errorf("locate session: %w", errors.ErrUnsupported)
	}
	workspace, err := Canonical(env, id.Workspace)
	if err != nil {
		return Session{}, err
	}
	return locate(env, Identity{workspace, id.SessionID})
}

// LocateRetained is [Locate] for a canonical workspace that was written down
// earlier and may be gone.
func LocateRetained(env Env, id Identity) (Session, error) {
	if !supported {
		return Session{}, fmt.Errorf("locate session: %w", errors.ErrUnsupported)
	}
	if err := checkRetained(env, id.Workspace); err != nil {
		return Session{}, err
	}
	return locate(env, id)
}

func locate(env Env, id Identity) (Session, error) {
	if !ValidID(id.SessionID) {
		return Session{}, invalid("session_id must be 1-128 ASCII letters, digits, or hyphens")
	}
	if !utf8.ValidString(id.Workspace) {
		return Session{}, invalid("workspace must be valid UTF-8")
	}
	root, err := env.stateRoot()
	if err != nil {
		return Session{}, err
	}
	native, err := env.amplifierHome()
	if err != nil {
		return Session{}, err
	}
	return Session{ID: id.SessionID, Workspace: id.Workspace, StateRoot: root, NativeRoot: native}, nil
}

// ValidID reports whether a session of that id can be owned: 1 to 128 ASCII letters,
// digits and hyphens, no hyphen first. Ids of sub-sessions have an underscore and cannot.
func ValidID(id string) bool {
	if len(id) == 0 || len(id) > 128 || id[0] == '-' {
		return false
	}
	return strings.IndexFunc(id, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0
}

// WorkspaceKey returns the SHA-256 of the workspace's path in hexadecimal.
func (s Session) WorkspaceKey() string {
	sum := sha256.Sum256([]byte(s.Workspace))
	return hex.EncodeToString(sum[:])
}

// Directory returns the directory of the session's shared state.
func (s Session) Directory() string {
	if s.Sessions != "" {
		return join(s.StateRoot, s.ID)
	}
	return join(s.StateRoot, "v1", s.WorkspaceKey(), s.ID)
}

// above returns the directories above Directory that must be as private.
func (s Session) above() []string {
	if s.Sessions != "" {
		return []string{s.StateRoot}
	}
	keys := join(s.StateRoot, "v1")
	return []string{s.StateRoot, keys, join(keys, s.WorkspaceKey())}
}

// LockPath returns the path of the lock file.
func (s Session) LockPath() string { return join(s.Directory(), LockName) }

// OwnerPath returns the path of the owner's record.
func (s Session) OwnerPath() string { return join(s.Directory(), OwnerName) }

// CheckpointPath returns the path of the legacy checkpoint.
func (s Session) CheckpointPath() string { return join(s.Directory(), CheckpointName) }

// NativeDirectory returns the directory that the reference keeps the session's history
// in, which is where it looks for a fence. Workspaces whose paths differ only in slashes
// and hyphens share it. For a session in another directory it is the session's directory
// there.
func (s Session) NativeDirectory() string {
	if s.Sessions != "" {
		return join(s.Sessions, s.ID)
	}
	return join(s.NativeRoot, s.nativeParts()...)
}

func (s Session) nativeParts() []string {
	slug := strings.NewReplacer("/", "-", `\`, "-", ":", "").Replace(s.Workspace)
	if !strings.HasPrefix(slug, "-") {
		slug = "-" + slug
	}
	return []string{"projects", slug, "sessions", s.ID}
}

// FencePath returns the path of the transfer fence.
func (s Session) FencePath() string { return join(s.NativeDirectory(), FenceName) }
