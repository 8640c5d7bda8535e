package ownership

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

const (
	maxState   = 16 << 20 // bytes of a state file
	notPrivate = 0o077    // permissions that no state may have
)

// Encode returns a JSON value as the reference writes its state files: on one line
// without spaces. It refuses values that Python's json module or UTF-8 cannot write, and
// more than 16 MiB.
func Encode(value []byte) ([]byte, error) {
	out, err := pyjson.Append(nil, value, pyjson.Style{Compact: true, Finite: true})
	switch {
	case err != nil:
		return nil, &failure{kind: ErrInvalid, text: "encode state: " + err.Error(), cause: err}
	case pyjson.HasSurrogate(out):
		return nil, invalid("encode state: surrogates not allowed")
	case len(out) > maxState:
		return nil, invalid("checkpoint exceeds the size limit")
	}
	return out, nil
}

// WriteState replaces a state file by value, JSON that [Encode] takes. The file is
// durable afterwards.
func WriteState(dir *vfs.Dir, name string, value []byte) error {
	data, err := Encode(value)
	if err != nil {
		return err
	}
	err = dir.Replace(name, true, time.Now(), func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	return dir.Sync()
}

// readState returns the content of a state file, whatever its mode. It never
// follows a symlink. A missing file is [fs.ErrNotExist].
func readState(dir *os.Root, name string) ([]byte, error) {
	named, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !named.Mode().IsRegular() {
		return nil, untrusted("cannot safely read " + name)
	}
	file, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if opened, err := file.Stat(); err != nil || !os.SameFile(named, opened) {
		return nil, untrusted("cannot safely read " + name)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxState+1))
	if err != nil {
		return nil, untrustedBecause("cannot read "+name, err)
	}
	if len(data) > maxState {
		return nil, untrusted(name + " exceeds the size limit")
	}
	return data, nil
}

// checkFile refuses a state file that exists and is not the user's own,
// private and regular.
func checkFile(dir *os.Root, name string) error {
	info, err := dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return untrustedBecause("cannot inspect state file "+name, err)
	case !info.Mode().IsRegular():
		return untrusted("state file " + name + " is not a safe regular file")
	case !Ours(info):
		return untrusted("state file " + name + " is not owned by this user")
	case info.Mode()&notPrivate != 0:
		return untrusted("state file " + name + " has unsafe permissions")
	}
	return nil
}

// openState opens the session's state directory. It makes missing directories and refuses
// unsafe files and directories.
func openState(s Session) (*vfs.Dir, error) {
	var checked fs.FileInfo
	var path string
	for _, path = range s.directories() {
		var err error
		if checked, err = makePrivate(path); err != nil {
			return nil, err
		}
	}
	dir, err := os.OpenRoot(path)
	if err != nil {
		return nil, untrustedBecause("cannot open state directory "+s.ID, err)
	}
	opened, err := dir.Stat(".")
	if err != nil {
		_ = dir.Close() // read only
		return nil, untrustedBecause("cannot inspect state directory "+s.ID, err)
	}
	if !os.SameFile(checked, opened) {
		_ = dir.Close() // read only
		return nil, untrusted("state directory " + s.ID + " is not a safe directory")
	}
	for _, name := range []string{LockName, OwnerName, CheckpointName} {
		if err := checkFile(dir, name); err != nil {
			_ = dir.Close() // read only
			return nil, err
		}
	}
	return vfs.New(dir, nil), nil
}

// makePrivate returns the directory path, made if it was missing. Ancestors
// that are missing get the permissions of the umask, as in the reference.
func makePrivate(path string) (fs.FileInfo, error) {
	name := filepath.Base(path)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return nil, err
		}
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		info, err = os.Lstat(path)
	}
	switch {
	case err != nil:
		return nil, untrustedBecause("cannot inspect state directory "+name, err)
	case !info.IsDir():
		return nil, untrusted("state directory " + name + " is not a safe directory")
	case !Ours(info):
		return nil, untrusted("state directory " + name + " is not owned by this user")
	case info.Mode()&notPrivate != 0:
		return nil, untrusted("state directory " + name + " has unsafe permissions")
	}
	return info, nil
}

// removeState removes a state file durably if it exists.
func removeState(dir *vfs.Dir, name string) error {
	if err := dir.Remove(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	return dir.Sync()
}

// Names of the files that hosts share.
const (
	LockName       = "session.lock"
	OwnerName      = "owner.json"
	CheckpointName = "checkpoint.json" // legacy: read by some hosts, written by none
	FenceName      = "transfer-fence.json"
)

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

// WorkspaceKey returns the SHA-256 of the workspace's path in hexadecimal.
func (s Session) WorkspaceKey() string {
	sum := sha256.Sum256([]byte(s.Workspace))
	return hex.EncodeToString(sum[:])
}

// directories returns the directories of the session's shared state, which must be private:
// its own last, after those above it.
func (s Session) directories() []string {
	if s.Sessions != "" {
		return []string{s.StateRoot, join(s.StateRoot, s.ID)}
	}
	keys := join(s.StateRoot, "v1")
	key := join(keys, s.WorkspaceKey())
	return []string{s.StateRoot, keys, key, join(key, s.ID)}
}

// Directory returns the directory of the session's shared state.
func (s Session) Directory() string {
	all := s.directories()
	return all[len(all)-1]
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
	return join(s.NativeRoot, "projects", ProjectSlug(s.Workspace), "sessions", s.ID)
}

// ProjectSlug returns the name of the directory that the reference keeps a project in.
func ProjectSlug(workspace string) string {
	slug := strings.NewReplacer("/", "-", `\`, "-", ":", "").Replace(workspace)
	if !strings.HasPrefix(slug, "-") {
		return "-" + slug
	}
	return slug
}

// FencePath returns the path of the transfer fence.
func (s Session) FencePath() string { return join(s.NativeDirectory(), FenceName) }

// join appends relative paths to a clean one.
func join(dir string, rest ...string) string {
	for _, part := range rest {
		switch {
		case part == "" || part == ".":
		case dir == ".":
			dir = part
		case strings.HasSuffix(dir, "/"):
			dir += part
		default:
			dir += "/" + part
		}
	}
	return dir
}
