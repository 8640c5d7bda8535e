package opencode

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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
func (Tool) Find(ctx context.Context, home string) ([]thread.History, error) {
	path := filepath.Join(home, file)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		older := filepath.Join(home, "storage", "session")
		if _, err := os.Stat(older); err == nil {
			return nil, &fs.PathError{Op: "read", Path: older, Err: errOlder}
		}
		return nil, nil
	}
	var all []row
	err := read(ctx, path, func(r rows) error {
		if err := r.check(); err != nil {
			return err
		}
		all = nil
		names, err := r.sessions()
		for _, id := range names { // each in a transaction of its own
			var one []row
			if err == nil {
				one, err = r.session(id)
			}
			if err == nil && len(one) > 0 && one[0].parent == "" {
				one[0].begin, err = r.begins(id)
			}
			all = append(all, one...)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	parents := map[string]string{}
	for _, s := range all {
		parents[s.id] = s.parent
	}
	var found []thread.History
	at, first := map[string]int{}, map[uint64]string{} // the place in found; the first session that begins so
	for _, s := range all {
		if top(s.id, parents) != s.id {
			continue
		}
		h := thread.History{
			ID: s.id, Path: pathOf(path, s.id), Dir: s.dir, Size: s.size, Modified: time.UnixMilli(s.updated), Rows: s.facts, Title: untitled.ReplaceAllString(s.title, ""), Spawned: s.parent != "",
		}
		if from := first[s.begin]; from != "" {
			h.Origin = &thread.History{ID: from, Path: pathOf(path, from)}
		} else if s.begin != 0 {
			first[s.begin] = s.id
		}
		at[s.id], found = len(found), append(found, h)
	}
	for _, s := range all {
		h := &found[at[top(s.id, parents)]]
		if h.ID == s.id {
			continue
		}
		h.Agents, h.Rows = append(h.Agents, pathOf(path, s.id)), h.Rows+s.facts
		if updated := time.UnixMilli(s.updated); updated.After(h.Modified) {
			h.Modified = updated
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
		if _, found := parents[parent]; !found {
			return at
		}
		at = parent
	}
	return id // a circle
}

// untitled matches the title of a session before the model or a person gave it one.
var untitled = regexp.MustCompile(`^(New|Child) session - \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)
