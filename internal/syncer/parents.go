package syncer

import (
	"fmt"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// parentMembers are the members of metadata by which tools name the session that another
// was made from. A fork of some tools names it in an object, see forkMember.
var parentMembers = []string{"parent_id", "parent_session_id"}

const (
	forkMember = "fork"
	forkSource = "source_session_id"
)

// parentsIn returns the ids of the sessions that one with the metadata md was made from.
// The error Is [ErrHeld] when one of them is named by something that is no text.
func parentsIn(md sessionstore.Metadata) (parents []string, err error) {
	add := func(name string, raw []byte) {
		switch {
		case raw == nil || pyjson.KindOf(raw) == pyjson.Null:
		case pyjson.KindOf(raw) != pyjson.String:
			err = fmt.Errorf("%w: its %s is no text", ErrHeld, name)
		default:
			if id := pyjson.Text(raw); id != "" && !slices.Contains(parents, id) {
				parents = append(parents, id)
			}
		}
	}
	for _, name := range parentMembers {
		raw, _ := md.Lookup(name)
		add(name, raw)
	}
	if fork, ok := md.Lookup(forkMember); ok && pyjson.KindOf(fork) == pyjson.Object {
		raw, _ := pyjson.Lookup(fork, forkSource)
		add(forkSource, raw)
	}
	return parents, err
}

// withoutParents returns metadata that name no parent. What they do not have is not added.
func withoutParents(content []byte) []byte {
	null := []byte("null")
	for _, name := range parentMembers {
		if _, ok := pyjson.Lookup(content, name); ok {
			content = pyjson.Splice(content, name, null)
		}
	}
	fork, _ := pyjson.Lookup(content, forkMember)
	if fork == nil || pyjson.KindOf(fork) != pyjson.Object {
		return content
	}
	if _, ok := pyjson.Lookup(fork, forkSource); ok {
		content = pyjson.Splice(content, forkMember, pyjson.Splice(fork, forkSource, null))
	}
	return content
}
