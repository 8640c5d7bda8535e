package picker

import (
	"context"
	"maps"
	"os"
	"path/filepath"
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
	last := s.stamps(chosen())
	for ctx.Err() == nil {
		pause(ctx, every)
		now := s.stamps(chosen())
		if k := chosen(); k != last.chosen { // its preview was read in between
			last.chosen, last.files = k, now.files
		}
		if !maps.Equal(last.folders, now.folders) || last.files != now.files {
			notice()
		}
		last = now
	}
}

// stamps are the times of what watch looks at.
type stamps struct {
	folders map[string]time.Time
	chosen  Key
	files   [2]time.Time // of the transcript and the metadata of the chosen session
}

func (s store) stamps(chosen Key) stamps {
	all := stamps{folders: map[string]time.Time{}, chosen: chosen}
	entries, _ := os.ReadDir(s.projects.Dir()) // without one, none is stored
	for _, e := range entries {
		dir := filepath.Join(s.projects.Dir(), e.Name(), "sessions")
		if at := changedAt(dir); !at.IsZero() {
			all.folders[dir] = at
		}
	}
	if chosen != (Key{}) {
		dir := filepath.Join(s.projects.Dir(), chosen.Project, "sessions", chosen.ID)
		all.files = [2]time.Time{changedAt(filepath.Join(dir, "transcript.jsonl")), changedAt(filepath.Join(dir, "metadata.json"))}
	}
	return all
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
