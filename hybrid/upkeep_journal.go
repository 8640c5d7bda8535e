package hybrid

import (
	"encoding/json"
	"time"
)

// journal remembers at which revision of its entry in the catalogue a session
// was last looked after, so that one at which nothing happens costs nothing.
// Without it all are looked at once more.
type journal struct {
	V        int              `json:"v"`
	Grace    time.Duration    `json:"grace"` // that it was done with
	Former   time.Duration    `json:"former"`
	Sessions map[string]entry `json:"sessions"` // by sid
}

type entry struct {
	Revision int64     `json:"rev"`
	Due      time.Time `json:"due,omitzero"` // when there is more to do though nothing changes
}

const journalFile = "upkeep.json"

func (e *engine) readJournal(o UpkeepOptions) *journal {
	j := &journal{}
	text, err := e.states.read(journalFile)
	if err != nil || json.Unmarshal(text, j) != nil || j.V != stateVersion || j.Sessions == nil || j.Grace != o.Grace || j.Former != o.Former {
		return &journal{V: stateVersion, Grace: o.Grace, Former: o.Former, Sessions: map[string]entry{}}
	}
	return j
}

func (e *engine) writeJournal(j *journal) error {
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return e.states.write(journalFile, text)
}

func (j *journal) note(sid string, revision int64, due time.Time) {
	j.Sessions[sid] = entry{revision, due}
}

// settled reports whether there is nothing to do for a session.
func (j *journal) settled(sid string, revision int64, now time.Time) bool {
	s, known := j.Sessions[sid]
	return known && s.Revision == revision && (s.Due.IsZero() || now.Before(s.Due))
}
