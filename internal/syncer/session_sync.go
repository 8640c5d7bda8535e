package syncer

import (
	"github.com/amplifier-go/sessionstorage/internal/replica"
)

// sessionSync is a sync of a session.
type sessionSync struct {
	*sides
	push push
	pull pull

	barred error        // why nothing may be sent, once that was found out
	stat   replica.Stat // before it was scanned
	mended bool         // what is damaged in the cloud and whole here was stored again
}

// begin begins a sync of a session that the caller has entered.
func (e *Syncer) begin(id string, w Options) *sessionSync {
	s := e.sides(id, w)
	return &sessionSync{sides: s, push: push{sides: s}, pull: pull{s}}
}
