package resync

import (
	"github.com/amplifier-go/sessionstorage/internal/gc"
	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// session is one session while it is written anew.
type session struct {
	*Resyncer
	m    *gc.Member
	sid  string
	was  *head.Head
	next *head.Head
	out  *outbox

	changed  bool // lines or files got another form
	former   []head.Old
	listed   []head.Branch
	branches []*head.Head // the documents of branches
}

// moved reports whether a place of another session is another one now.
func (s *session) moved(sid string, st segment.Stream, p segment.Point) bool {
	now, ok := s.ends[place{sid, st, p}]
	return ok && now.Point() != p
}
