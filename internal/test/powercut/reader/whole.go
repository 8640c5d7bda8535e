package reader

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/test/powercut/history"
)

// whole is a session with all of its files, in its place or in the trash. A session
// in more than one place is an error. A row is the name of a file and the hash of its
// content.
func whole(dir, id string) history.State {
	places, err := filepath.Glob(filepath.Join(dir, ".trash", "*", "sessions", id))
	if err != nil {
		return failed(err)
	}
	if _, err := os.Stat(filepath.Join(dir, id)); err == nil {
		places = append(places, filepath.Join(dir, id))
	}
	switch len(places) {
	case 0:
		return history.Gone()
	case 1:
		return files(places[0])
	}
	return history.State{Number: history.None, Err: fmt.Sprintf("it is in %d places", len(places))}
}

// files returns the files below dir, without locks, backups and hidden files.
func files(dir string) history.State {
	out := history.State{Number: history.None}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		name := e.Name()
		if err != nil || e.IsDir() || strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".lock") || strings.HasSuffix(name, ".backup") {
			return err
		}
		content, err := os.ReadFile(path)
		if err == nil {
			out.Rows = append(out.Rows, fmt.Sprintf("%s:%x", path[len(dir)+1:], sha256.Sum256(content)))
		}
		return err
	})
	if err != nil {
		return failed(err)
	}
	return out
}
