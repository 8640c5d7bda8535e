package ownership

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
)

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
