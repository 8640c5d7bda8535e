package sessionstore

import (
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// NewMetadata encodes v by the rules of [Metadata.Set]. v is what encoding/json
// can encode as an object, or a json.RawMessage in Python's dialect.
func NewMetadata(v any) (Metadata, error) {
	raw, err := encode(v)
	if err != nil {
		return Metadata{}, unstorable("new metadata", err)
	}
	if pyjson.KindOf(raw) != pyjson.Object {
		return Metadata{}, unstorable("new metadata", errNotObject)
	}
	return membersOf(raw), nil
}

// mustMetadata is for values that this package makes and knows to be storable.
func mustMetadata(md Metadata, err error) Metadata {
	if err != nil {
		panic(err) // unreachable: the value holds strings, booleans and numbers
	}
	return md
}

// encode returns v as JSON that every tool can read.
func encode(v any) ([]byte, error) {
	raw, err := pyjson.Encode(v)
	if err != nil {
		return nil, err
	}
	return pyjson.Append(nil, pyjson.Trim(raw), writeStyle())
}

// Set gives the member name the value v, encoded as in [NewMetadata]; a new
// name goes to the end. Nulls are kept. The error Is [ErrUnstorable] when v
// holds what the Python tools could not read back.
func (md *Metadata) Set(name string, v any) error {
	value, err := encode(v)
	if err != nil {
		return unstorable("set member of metadata", err)
	}
	md.set(member{name, pyjson.AppendQuoted(nil, name, writeStyle()), value})
	return nil
}

func (md *Metadata) set(m member) {
	*md = Metadata{members: slices.Clone(md.all())}
	if i := md.index(m.name); i >= 0 {
		md.members[i].value = m.value
		return
	}
	md.members = append(md.members, m)
}

// Delete removes the member name.
func (md *Metadata) Delete(name string) {
	rest := Metadata{members: slices.Clone(md.all())}
	if i := rest.index(name); i >= 0 {
		rest.members = slices.Delete(rest.members, i, i+1)
		*md = rest
	}
}

// diskWins are the members of which a save keeps what stands on disk: those
// that have a writer of their own, in the newer Python tools and in package
// workflow.
var diskWins = []string{
	"name", "name_source", "name_revision", "name_updated_at", "name_generated_at",
	"description", "description_updated_at",
	"status", "manifest_name",
}

// merge returns what a save of incoming leaves where disk stood: members that
// only the disk has stay, and the disk decides those of diskWins that it has.
func merge(disk, incoming Metadata) Metadata {
	merged := Metadata{members: slices.Clone(disk.all())}
	at := make(map[string]int, len(merged.members))
	for i, m := range merged.members {
		at[m.name] = i
	}
	for _, m := range incoming.all() {
		i, onDisk := at[m.name]
		switch {
		case !onDisk:
			merged.members = append(merged.members, m)
		case !slices.Contains(diskWins, m.name):
			merged.members[i].value = m.value
		}
	}
	return merged
}
