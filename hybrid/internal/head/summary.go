package head

import "github.com/amplifier-go/sessionstorage/internal/pyjson"

// Summary returns what lists show of a file with that content; nil for nothing.
func Summary(name string, content []byte) []byte {
	if name != Metadata || pyjson.Check(content, pyjson.Strict) != nil {
		return nil
	}
	doc := []byte("{}")
	for _, member := range []string{"name", "bundle", "turn_count"} {
		if v, ok := pyjson.Lookup(content, member); ok && len(v) <= 256 && pyjson.KindOf(v) != pyjson.Object && pyjson.KindOf(v) != pyjson.Array {
			doc = pyjson.Splice(doc, member, v)
		}
	}
	return doc
}

// Description returns the description in metadata that the head itself holds; "" for none.
func (t *Head) Description() string {
	metadata := t.Files[Metadata].Text
	if pyjson.Check(metadata, pyjson.Strict) != nil {
		return ""
	}
	v, ok := pyjson.Lookup(metadata, "description")
	if !ok || pyjson.KindOf(v) != pyjson.String {
		return ""
	}
	return pyjson.Text(v)
}

// Name returns the name that the session's metadata gives it; "" for none.
func (t *Head) Name() string {
	name, ok := pyjson.Lookup(t.Files[Metadata].Summary, "name")
	if !ok || pyjson.KindOf(name) != pyjson.String {
		return ""
	}
	return pyjson.Text(name)
}
