package conversation

import (
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// blocks returns the content of a message where it is a list of blocks.
func blocks(m sessionstore.Message) (found [][]byte) {
	raw, _ := m.Lookup("content")
	for block := range pyjson.Elements(raw) {
		found = append(found, block)
	}
	return found
}

func isBlock(block []byte, kind string) bool { return member(block, "type") == kind }

// member returns the member of an object where it is text.
func member(obj []byte, name string) string {
	if pyjson.KindOf(obj) != pyjson.Object {
		return ""
	}
	raw, _ := pyjson.Lookup(obj, name)
	return pyjson.Text(raw)
}
