package ownership

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"
)

// An Identity names a root session.
type Identity struct {
	Workspace string // the directory that the session works in
	SessionID string
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

// Env is the environment on which paths depend besides their names.
type Env struct {
	// Lookup returns an environment variable and whether it is set.
	Lookup func(key string) (string, bool)
	// Home returns the home directory of a user by the user database; "" is the user of
	// the process.
	Home func(name string) (string, error)
	// Getwd returns the working directory without symlinks.
	Getwd func() (string, error)
	// StateRoot replaces the state root of the environment unless empty.
	StateRoot string
}

// System returns the environment of the process. It is read when it is used.
func System() Env {
	return Env{Lookup: os.LookupEnv, Home: homeOf, Getwd: physicalWd}
}

func homeOf(name string) (string, error) {
	find := func() (*user.User, error) { return user.Lookup(name) }
	if name == "" {
		find = func() (*user.User, error) { return user.LookupId(strconv.Itoa(os.Getuid())) }
	}
	u, err := find()
	if err != nil {
		return "", err
	}
	return u.HomeDir, nil
}

func physicalWd() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// set returns a variable's value; an empty one counts as unset.
func (e Env) set(key string) (string, bool) {
	value, _ := e.Lookup(key)
	return value, value != ""
}

func (e Env) stateRoot() (string, error) {
	if e.StateRoot != "" {
		return e.expand(e.StateRoot)
	}
	if dir, ok := e.set("AMPLIFIER_SESSION_STATE_HOME"); ok {
		return e.expand(dir)
	}
	dir, ok := e.set("XDG_STATE_HOME")
	if !ok {
		dir = "~/.local/state"
	}
	dir, err := e.expand(dir)
	return join(dir, "amplifier", "sessions"), err
}

// amplifierHome is absolute, but its symlinks are not resolved.
func (e Env) amplifierHome() (string, error) {
	dir, ok := e.set("AMPLIFIER_HOME")
	if !ok {
		dir = "~/.amplifier"
	}
	dir, err := e.expand(dir)
	if err != nil {
		return "", err
	}
	return e.absolute(dir)
}

// expand cleans path and replaces a leading ~ or ~user.
func (e Env) expand(path string) (string, error) {
	path = clean(path)
	if !strings.HasPrefix(path, "~") {
		return path, nil
	}
	first, rest, _ := strings.Cut(path, "/")
	home, ok := e.Lookup("HOME")
	if first != "~" || !ok {
		var err error
		if home, err = e.Home(first[1:]); err != nil {
			return "", &failure{kind: ErrInvalid, text: "could not determine home directory", cause: err}
		}
	}
	if home = strings.TrimRight(home, "/"); home == "" {
		home = "/"
	}
	if strings.HasPrefix(home, "~") {
		return "", invalid("could not determine home directory")
	}
	return join(clean(home), rest), nil
}

func (e Env) absolute(path string) (string, error) {
	if strings.HasPrefix(path, "/") {
		return path, nil
	}
	dir, err := e.Getwd()
	if err != nil {
		return "", err
	}
	return join(clean(dir), path), nil
}

// clean normalises as Python's pathlib does: no empty and no "." components,
// no trailing slash; ".." stays, and so do exactly two leading slashes.
func clean(path string) string {
	var kept []string
	for part := range strings.SplitSeq(path, "/") {
		if part != "" && part != "." {
			kept = append(kept, part)
		}
	}
	rest := strings.Join(kept, "/")
	switch {
	case strings.HasPrefix(path, "//") && !strings.HasPrefix(path, "///"):
		return "//" + rest
	case strings.HasPrefix(path, "/"):
		return "/" + rest
	case rest == "":
		return "."
	default:
		return rest
	}
}

const (
	maxWorkspace = 4096 // code points of a retained workspace
	maxLinks     = 255  // symlinks on one path; more count as a loop
)

// Canonical returns the canonical path of a workspace: ~ expanded, made absolute, every
// symlink resolved. It must be an existing directory. Case and bytes stay as they are.
func Canonical(env Env, dir string) (string, error) {
	const unresolvable = "workspace must be an existing resolvable directory"
	path, err := env.resolve(dir, true)
	if err != nil {
		return "", &failure{kind: ErrInvalid, text: unresolvable, cause: err}
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", &failure{kind: ErrInvalid, text: unresolvable, cause: err}
	}
	if !info.IsDir() {
		return "", invalid("workspace must be a directory")
	}
	return path, nil
}

// checkRetained accepts the canonical form of a path that may be gone.
func checkRetained(env Env, workspace string) error {
	if n := utf8.RuneCountInString(workspace); n < 1 || n > maxWorkspace || strings.Contains(workspace, "\x00") {
		return invalid("retained workspace must be a bounded canonical absolute path")
	}
	moved := invalid("retained workspace must remain a canonical directory address")
	if !strings.HasPrefix(workspace, "/") || clean(workspace) != workspace {
		return moved
	}
	path, err := env.resolve(workspace, false)
	if err == nil && path != workspace {
		return moved
	}
	var info fs.FileInfo
	if err == nil {
		info, err = os.Stat(workspace)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil
	case err != nil:
		return &failure{kind: ErrInvalid, text: "retained workspace is not a resolvable canonical address", cause: err}
	case !info.IsDir():
		return moved
	}
	return nil
}

// resolve returns path without symlinks, as Python's realpath: ".." leaves the directory
// that was reached. When strict, the whole path must exist; else a part that cannot be
// read counts as no symlink.
func (e Env) resolve(path string, strict bool) (string, error) {
	path, err := e.expand(path)
	if err != nil {
		return "", err
	}
	if path, err = e.absolute(path); err != nil {
		return "", err
	}
	done, links := "/", 0
	for rest := path; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		switch name {
		case "", ".":
			continue
		case "..":
			done = done[:max(1, strings.LastIndexByte(done, '/'))]
			continue
		}
		next := join(done, name)
		target, err := readLink(next)
		switch {
		case err != nil && strict:
			return "", err
		case target == "":
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "resolve", Path: path, Err: syscall.ELOOP}
		}
		if strings.HasPrefix(target, "/") {
			done = "/"
		}
		rest = target + "/" + rest
	}
	return done, nil
}

// readLink returns the target of a symlink and "" for anything else.
func readLink(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return "", err
	}
	return os.Readlink(path)
}
