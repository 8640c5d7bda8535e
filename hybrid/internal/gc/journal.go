package gc

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

// Journal remembers at which revision of its entry in the catalogue each session
// was last pruned, so that one at which nothing happens costs nothing. Without it
// all are pruned once more.
type Journal struct {
	V         int             `json:"v"`
	Grace     time.Duration   `json:"grace"` // that it was done with
	Retention time.Duration   `json:"retention"`
	Sessions  map[string]done `json:"sessions"` // by SID
}

type done struct {
	Revision int64     `json:"rev"`
	Due      time.Time `json:"due,omitzero"` // when there is more to do though nothing changes
}

const journalVersion = 1

// ReadJournal reads what [Journal.Encode] returned. It returns an empty journal for
// every other text, and for one of other options.
func ReadJournal(text []byte, o Options) *Journal {
	j := &Journal{}
	if json.Unmarshal(text, j) != nil || j.V != journalVersion || j.Sessions == nil || j.Grace != o.Grace || j.Retention != o.Retention {
		return &Journal{V: journalVersion, Grace: o.Grace, Retention: o.Retention, Sessions: map[string]done{}}
	}
	return j
}

// Encode returns the journal's text.
func (j *Journal) Encode() ([]byte, error) { return json.Marshal(j) }

// Note notes that a session was pruned, and when there is more to do though nothing
// changes.
func (j *Journal) Note(e *remoteread.Entry, due time.Time) {
	j.Sessions[e.SID] = done{e.Revision, due}
}

// Due returns the entries of a project's sessions for which there may be something
// to do, by the sessions' ids; or those of all its sessions. It forgets sessions
// without an entry.
func (j *Journal) Due(ctx context.Context, r *remoteread.Reader, project segment.Identity, all bool) (map[string]*remoteread.Entry, error) {
	due, seen := map[string]*remoteread.Entry{}, map[string]bool{}
	for e, err := range r.Entries(ctx, project.UID(), "", time.Time{}) {
		if err != nil {
			return nil, err
		}
		seen[e.SID] = true
		session := project
		session.Session = e.Session
		if session.SID() == e.SID && (all || !j.settled(&e, r.Time())) {
			due[e.Session] = &e
		}
	}
	maps.DeleteFunc(j.Sessions, func(sid string, _ done) bool { return !seen[sid] })
	return due, nil
}

// settled reports whether there is nothing to do for a session.
func (j *Journal) settled(e *remoteread.Entry, now time.Time) bool {
	s, known := j.Sessions[e.SID]
	return known && s.Revision == e.Revision && (s.Due.IsZero() || now.Before(s.Due))
}
