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
// events. Earlier versions of the tool had a file for each session, which it does not read any more. The
// folder and the file may be links.
func (Tool) Find(ctx context.Context, home string) (found []thread.History, failed error) {
	at := map[string]int{} // in found, by id
	failed = thread.Entries(ctx, filepath.Join(home, sessionsFolder), func(path string, _ fs.DirEntry) error {
		h, err := historyIn(ctx, path)
		if i, known := at[h.ID]; known {
			if filepath.Base(found[i].Path) != eventsFile { // the folder is the session
				h, found[i] = found[i], h
			}
			found[i].Shorter = append(found[i].Shorter, h.Path)
		} else if h.Path != "" {
			at[h.ID], found = len(found), append(found, h)
		}
		return err
	})
	return found, failed
}

// historyIn returns the session of a folder or of a file, without a path where there is none. A name
// that changed counts as a change.
func historyIn(ctx context.Context, path string) (h thread.History, failed error) {
	id := filepath.Base(path)
	fi, err := os.Stat(path)
	if err == nil && fi.IsDir() {
		path = filepath.Join(path, eventsFile)
		fi, err = os.Stat(path)
	} else {
		id = strings.TrimSuffix(id, thread.HistorySuffix)
	}
	if errors.Is(err, fs.ErrNotExist) || err == nil && !(fi.Mode().IsRegular() && strings.HasSuffix(path, thread.HistorySuffix)) {
		return h, nil
	}
	if err != nil {
		return h, err
	}
	h = thread.History{ID: thread.ID(id), Path: path, Size: fi.Size(), Modified: fi.ModTime()}
	about, changed, failed := workspaceIn(filepath.Join(filepath.Dir(path), workspaceFile))
	h.Dir, h.Title, h.Generated = about.Dir, about.Name, !about.Named
	if h.Generated { // it may be the first prompt
		h.Title, _, _ = strings.Cut(h.Title, "\n")
	}
	if changed.After(h.Modified) {
		h.Modified = changed
	}
	if h.Dir == "" {
		h.Dir, err = dirIn(ctx, path)
	}
	return h, errors.Join(failed, err)
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
		w, err = workspace{}, fmt.Errorf("%s: it is no YAML of at most 64 KiB that describes a session: the name of the session is not known", path)
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
	first, err := thread.First(ctx, f, parse)
	return first.dir(), err
}
