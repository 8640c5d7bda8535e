package resync

import (
	"github.com/amplifier-go/sessionstorage/internal/gc"
	"github.com/amplifier-go/sessionstorage/internal/head"
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
