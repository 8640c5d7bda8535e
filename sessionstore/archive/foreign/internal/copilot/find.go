package copilot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

const (
	sessionsFolder = "session-state"
	eventsFile     = "events.jsonl"
	workspaceFile  = "workspace.yaml"

	// maxWorkspace is how long a workspace.yaml may be that is read, in bytes.
	maxWorkspace = 64 << 10
)

var errWorkspace = errors.New("it is no YAML of at most 64 KiB that describes a session: the name of the session is not known")

// workspace describes a session, in a file beside its events.
type workspace struct {
	ID      string `yaml:"id,omitempty"`
	Dir     string `yaml:"cwd"`
	Name    string `yaml:"name,omitempty"`
	Named   bool   `yaml:"user_named"` // a person gave the name
	Created string `yaml:"created_at,omitempty"`
	Updated string `yaml:"updated_at,omitempty"`
}

// Find: a folder is a session, and has its name. A session that was never prompted has no
// events. The folder and the file may be links.
func (Tool) Find(ctx context.Context, home string, since time.Time) (found []thread.History, failed error) {
	dir := filepath.Join(home, sessionsFolder)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		failed = err
	}
	for _, e := range entries {
		if ctx.Err() != nil {
			return found, errors.Join(failed, ctx.Err())
		}
		h, err := historyIn(ctx, filepath.Join(dir, e.Name()))
		if err != nil {
			failed = errors.Join(failed, err)
		}
		if h.Path != "" && !h.Modified.Before(since) {
			found = append(found, h)
		}
	}
	return found, failed
}

// historyIn returns the session of a folder, without a path where there is none. A name that
// changed counts as a change.
func historyIn(ctx context.Context, folder string) (h thread.History, failed error) {
	path := filepath.Join(folder, eventsFile)
	fi, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && !fi.Mode().IsRegular():
		return h, nil
	case err != nil:
		if info, failed := os.Stat(folder); failed == nil && !info.IsDir() {
			return h, nil
		}
		return h, err
	}
	h = thread.History{ID: thread.ID(filepath.Base(folder)), Path: path, Size: fi.Size(), Modified: fi.ModTime()}
	about, changed, failed := workspaceIn(filepath.Join(folder, workspaceFile))
	h.Dir, h.Title, h.Generated = about.Dir, about.Name, !about.Named
	if h.Generated { // it may be the first prompt
		h.Title, _, _ = strings.Cut(h.Title, "\n")
	}
	if changed.After(h.Modified) {
		h.Modified = changed
	}
	if h.Dir == "" {
		h.Dir, err = dirIn(ctx, path)
		failed = errors.Join(failed, err)
	}
	return h, failed
}

// workspaceIn reads a workspace.yaml. The error has no text of it.
func workspaceIn(path string) (w workspace, changed time.Time, err error) {
	f, fi, err := thread.OpenRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return w, changed, nil
	}
	if err != nil {
		return w, changed, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxWorkspace+1))
	if err == nil && (len(raw) > maxWorkspace || yaml.Unmarshal(raw, &w) != nil) {
		w, err = workspace{}, errWorkspace
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return w, fi.ModTime(), err
}

// dirIn returns the directory that the beginning of a file names.
func dirIn(ctx context.Context, path string) (string, error) {
	f, _, err := thread.OpenRegular(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	for l, err := range thread.LinesOf(ctx, io.LimitReader(f, thread.MaxBeginning)) {
		if err != nil {
			return "", err
		}
		if first, damaged := parse(l.Bytes); damaged == nil {
			return first.dir(), nil
		}
	}
	return "", nil
}

// originIn returns the id of the session that the note of a fork names.
func originIn(note string) string {
	if m := forkedFrom.FindStringSubmatch(note); m != nil {
		return thread.ID(m[1])
	}
	return ""
}
