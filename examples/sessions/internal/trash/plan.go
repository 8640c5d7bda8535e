package trash

import (
	"slices"
	"time"
)

// Hindrance is a reason why a session is not taken.
type Hindrance string

// The hindrances. The last three are overcome by naming them.
const (
	Running    Hindrance = "running"    // a program holds it
	Symlink    Hindrance = "symlink"    // it lies somewhere else
	Unreadable Hindrance = "unreadable" // its directory cannot be read
	Recent     Hindrance = "recent"     // it was written a moment ago; older tools tell in no other way that they run it
	Unsynced   Hindrance = "unsynced"   // the cloud lacks something of it
	Parent     Hindrance = "parent"     // sessions that descend from it stay
)

// Overcome reports whether a hindrance that is named is none.
func (h Hindrance) Overcome() bool { return h == Recent || h == Unsynced || h == Parent }

// An Obstacle is a hindrance with what there is to say of it.
type Obstacle struct {
	Hindrance Hindrance `json:"hindrance"`
	Text      string    `json:"text"`
}

// Session is a session that is asked to be removed.
type Session struct {
	ID       string    `json:"id"`
	Name     string    `json:"name,omitempty"`
	Created  string    `json:"created,omitempty"` // as the metadata have it
	Modified time.Time `json:"modified"`          // of its directory
	Written  time.Time `json:"written"`           // of the file that was written last; of the directory without files
	Files    int       `json:"files"`
	Bytes    int64     `json:"bytes"`

	// Obstacles are why it stays, or what it was taken in spite of.
	Obstacles []Obstacle `json:"obstacles,omitempty"`
}

// hindered reports whether a session has an obstacle that allow does not name.
func (s *Session) hindered(allow []Hindrance) bool {
	return slices.ContainsFunc(s.Obstacles, func(o Obstacle) bool {
		return !o.Hindrance.Overcome() || !slices.Contains(allow, o.Hindrance)
	})
}

// Bytes returns the size of all files of sessions.
func Bytes(sessions []Session) (n int64) {
	for _, s := range sessions {
		n += s.Bytes
	}
	return n
}

// family tells which sessions descend from which.
type family map[string][]string // children by the directory of their parent

// descendants returns ids and all that descends from them, each once.
func (f family) descendants(ids []string) []string {
	var all []string
	seen := map[string]bool{}
	for queue := slices.Clone(ids); len(queue) > 0; queue = queue[1:] {
		if !seen[queue[0]] {
			seen[queue[0]] = true
			all = append(all, queue[0])
			queue = append(queue, f[queue[0]]...)
		}
	}
	return all
}

// decide parts sessions into those to be taken and those that stay. One that
// stays keeps its ancestors.
func decide(sessions []Session, children family, allow []Hindrance) (take, keep []Session) {
	gone := map[string]bool{}
	for _, s := range sessions {
		gone[s.ID] = !s.hindered(allow)
	}
	parents := slices.Contains(allow, Parent)
	for changed := true; changed && !parents; {
		changed = false
		for _, s := range sessions {
			if gone[s.ID] && slices.ContainsFunc(children[s.ID], func(c string) bool { return !gone[c] }) {
				gone[s.ID], changed = false, true
			}
		}
	}
	for _, s := range sessions {
		left := slices.DeleteFunc(slices.Clone(children[s.ID]), func(c string) bool { return gone[c] })
		if len(left) > 0 {
			s.Obstacles = append(slices.Clone(s.Obstacles), Obstacle{Parent, leftAlone(left)})
		}
		if gone[s.ID] {
			take = append(take, s)
		} else {
			keep = append(keep, s)
		}
	}
	return take, keep
}

func leftAlone(children []string) string {
	if len(children) == 1 {
		return "session " + children[0] + " descends from it and would stay"
	}
	return "session " + children[0] + " and others descend from it and would stay"
}
