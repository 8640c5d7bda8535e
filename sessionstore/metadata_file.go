package sessionstore

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/commit"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
)

// NewMetadata encodes v by the rules of [Metadata.Set]. v is a value that encoding/json
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

// Set gives the member name the value v, encoded as in [NewMetadata]; a new name goes to
// the end. Nulls are kept. The error Is [ErrUnstorable] when v holds a value that the
// Python tools could not read back.
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

// diskWins are the members whose values on disk a save keeps. They have their own
// writers, in the newer Python tools and in package workflow.
var diskWins = []string{
	"name", "name_source", "name_revision", "name_updated_at", "name_generated_at",
	"description", "description_updated_at",
	"status", "manifest_name",
}

// merge returns the metadata that a save of incoming writes over disk: members that only
// disk has stay, and members of diskWins keep their value of disk.
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

// metadataFile is metadata.json as it was read, with its faults.
type metadataFile struct {
	main, backup file
	md           Metadata
	recovered    *Recovery
	damage       error     // both are damaged: md is the reference's placeholder
	unread       error     // the reason why the system did not let a decisive file be read; see [file]
	writtenTime  time.Time // the time of change that this store gave the file; zero: it set none
	displaced    bool      // md is from the backup, another writer's file that this call displaced

	amended amendment // of the backup, to become main; zero: none
}

// amendment is metadata.json with the next count, written over its backup. The zero
// amendment holds none.
type amendment struct {
	file    *commit.Amendment
	content []byte
	time    time.Time
}

// discard lets other programs open the backup.
func (a *amendment) discard() {
	if a.file != nil {
		a.file.Discard()
		a.file = nil
	}
}

// missing reports whether neither metadata.json nor its backup exists.
func (m *metadataFile) missing() bool { return !m.main.found && !m.backup.found }

// memberBytes is the memory of a member beside its bytes.
const memberBytes = 64

// cost returns about how many bytes of memory m takes: the bytes of the file, of a copy
// that holds the members, and of their names.
func (m *metadataFile) cost() int64 {
	return memberBytes*int64(cap(m.md.members)+8) + 3*int64(cap(m.main.data)) + int64(len(m.main.path))
}

// readMetadata reads the metadata with the reference's recovery: the backup when the file
// is damaged or missing, a placeholder when both are damaged. now is the clock for the
// placeholder. Where nothing may replace a file, see [noBackup], m.damage is the error.
func readMetadata(dir *sessiondir.Dir, id string, now func() time.Time) metadataFile {
	m := metadataFile{main: readFile(dir, sessiondir.Metadata)}
	m.md = m.main.parseMetadata()
	if m.main.sound() {
		return m
	}
	m.backup = readFile(dir, sessiondir.Backup(sessiondir.Metadata))
	m.unread = cmp.Or(m.main.unread, m.backup.unread)
	md := m.backup.parseMetadata()
	switch {
	case noBackup(m.unread):
		m.damage = m.unread
	case m.backup.sound():
		m.md = md
		if m.main.found {
			m.recovered = recovery(dir, &m.main, &m.backup, m.main.bad)
		}
	case m.main.found || m.backup.found:
		m.md = placeholder(id, now())
		m.damage = errors.Join(asError(m.main.bad), asError(m.backup.bad))
	}
	return m
}

// placeholder returns the metadata that the reference puts in the place of damaged ones.
func placeholder(id string, now time.Time) Metadata {
	return mustMetadata(NewMetadata(struct {
		ID        string `json:"session_id"`
		Recovered bool   `json:"recovered"`
		Time      string `json:"recovery_time"`
	}{id, true, pytime.Format(now.UTC())}))
}
