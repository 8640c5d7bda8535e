package ownership

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"unicode/utf8"
)

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
