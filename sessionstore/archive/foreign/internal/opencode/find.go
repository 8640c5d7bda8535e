package opencode

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// file is the name of the database.
const file = "opencode.db"

// pathOf returns the path of the history of a session: its file would have that path in a
// folder with the name of the database.
func pathOf(db, id string) string { return filepath.Join(db, id+thread.HistorySuffix) }

// inDatabase returns the database and the session of such a path. Other paths are of files.
func inDatabase(path string) (db, id string, is bool) {
	db = filepath.Dir(path)
	id, is = strings.CutSuffix(filepath.Base(path), thread.HistorySuffix)
	return db, id, is && filepath.Base(db) == file
}

// Database returns the files whose facts say whether the database changed.
func (Tool) Database(home string) (files []string) {
	path := real(filepath.Join(home, file))
	for _, suffix := range suffixes {
		files = append(files, path+suffix)
	}
	return files
}

// errOlder is why nothing is found where opencode did not have a database yet.
var errOlder = errors.New("opencode before 1.2 wrote these sessions, which are not read; a newer opencode takes them into its database when it starts")

// Find: a session is a row. Sub-agents belong to the session that began them, where that is
// there. A session that begins as an earlier one did, at the same times, is its fork.
func (Tool) Find(ctx context.Context, home string, since time.Time) ([]thread.History, error) {
	path := filepath.Join(home, file)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		older := filepath.Join(home, "storage", "session")
		if _, err := os.Stat(older); err == nil {
			return nil, &fs.PathError{Op: "read", Path: older, Err: errOlder}
		}
		return nil, nil
	}
	var all []row
	origins := map[string]string{} // by fork
	err := read(ctx, path, func(r rows) (err error) {
		if err = r.check(); err == nil {
			all, err = r.sessions("")
		}
		first := map[uint64]string{} // the first session that begins so
		for _, s := range all {
			if err != nil || s.parent != "" {
				continue
			}
			var sum uint64
			if sum, err = r.begins(s.id); sum != 0 && first[sum] == "" {
				first[sum] = s.id
			}
			if first[sum] != s.id {
				origins[s.id] = first[sum]
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	parents, byID := map[string]string{}, map[string]*thread.History{}
	for _, s := range all {
		parents[s.id] = s.parent
		byID[s.id] = &thread.History{
			ID: s.id, Path: pathOf(path, s.id), Dir: s.dir, Size: s.size, Modified: time.UnixMilli(s.updated), Rows: s.facts, Title: titleOf(s.title),
		}
		if from := origins[s.id]; from != "" {
			byID[s.id].Origin = &thread.History{ID: from, Path: pathOf(path, from)}
		}
	}
	var tops []*thread.History
	for _, s := range all { // in the order in which they began
		h, to := byID[s.id], byID[top(s.id, parents)]
		if to == h {
			tops = append(tops, h)
			continue
		}
		to.Agents, to.Rows = append(to.Agents, h.Path), to.Rows+h.Rows
		if h.Modified.After(to.Modified) {
			to.Modified = h.Modified
		}
	}
	var found []thread.History
	for _, h := range tops {
		if !h.Modified.Before(since) {
			h.Spawned = parents[h.ID] != ""
			found = append(found, *h)
		}
	}
	return found, nil
}

// top returns the session that began a sub-agent, or began the session that did; or the sub-agent
// itself, where that is not there.
func top(id string, parents map[string]string) string {
	at := id
	for range parents {
		parent := parents[at]
		if parent == "" {
			return at
		}
		if _, found := parents[parent]; !found {
			return at
		}
		at = parent
	}
	return id // a circle
}

// titleOf returns the title of a session, "" before the model or a person gave it one.
func titleOf(title string) string {
	for _, begin := range []string{"New session - ", "Child session - "} {
		if rest, ok := strings.CutPrefix(title, begin); ok {
			if _, err := time.Parse(time.RFC3339, rest); err == nil {
				return ""
			}
		}
	}
	return title
}
