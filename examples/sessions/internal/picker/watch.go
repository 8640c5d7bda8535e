package picker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// noticeEvery is how often the picker looks for changes by others.
const noticeEvery = 2 * time.Second

// unsettled is the age below which the time of a file may stay the same when the file
// changes once more.
const unsettled = 100 * time.Millisecond

// watch calls notice when sessions come or go in any project, and when the session that
// chosen returns is written. It compares the times of the directories of sessions: one
// call of the system for a project, however many sessions the project has, where
// [sessionstore.Store.Watch] watches each session.
func (s store) watch(ctx context.Context, every time.Duration, chosen func() Key, notice func()) {
	last, folders, files := chosen(), s.folders(), s.files(chosen())
	for ctx.Err() == nil {
		pause(ctx, every)
		k := chosen()
		nowFolders, nowFiles := s.folders(), s.files(k)
		if nowFolders != folders || k == last && nowFiles != files { // else its preview was read in between
			notice()
		}
		last, folders, files = k, nowFolders, nowFiles
	}
}

// folders returns the times of the directories of sessions.
func (s store) folders() string {
	entries, _ := os.ReadDir(s.projects.Dir()) // without one, none is stored
	var all strings.Builder
	for _, e := range entries {
		fmt.Fprintln(&all, e.Name(), changedAt(filepath.Join(s.projects.Dir(), e.Name(), "sessions")))
	}
	return all.String()
}

// files returns the times of the transcript and the metadata of a session.
func (s store) files(k Key) string {
	dir := filepath.Join(s.projects.Dir(), k.Project, "sessions", k.ID)
	return fmt.Sprint(changedAt(filepath.Join(dir, "transcript.jsonl")), changedAt(filepath.Join(dir, "metadata.json")))
}

// changedAt returns the time of a file, or no time where it is missing. A time that may
// not have settled is followed by another one at the next look.
func changedAt(path string) time.Time {
	fi, err := os.Stat(path)
	switch {
	case err != nil:
		return time.Time{}
	case time.Since(fi.ModTime()) < unsettled:
		return fi.ModTime().Add(time.Nanosecond)
	}
	return fi.ModTime()
}
