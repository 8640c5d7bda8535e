package head

import (
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// TypeFork is the type of documents that name the forks of a session in the
// session's own partition: whoever removes lines of it has to know of them.
const TypeFork = "fork"

// ForkRef returns the document that tells the session of from that the session
// child needs its lines.
func ForkRef(from *From, child string) segment.Document {
	pk, id := segment.SessionPK(from.SID), from.SID+"-f-"+child
	body := fmt.Sprintf(`{"id":%q,"pk":%q,"type":%q,"v":%d,"child":%q,"from":{"n":%d,"h":%q}}`,
		id, pk, TypeFork, segment.Version, child, from.N, from.Hash)
	return segment.Document{ID: id, PK: pk, Type: TypeFork, Body: []byte(body)}
}
