package private

import (
	"cmp"
	"context"
	"errors"
	"io/fs"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// metadata is the object that metadata.json holds; nil: it was not found.
type metadata []byte

var errNoObject = errors.New("it is not a JSON object")

func parseMetadata(content []byte) (metadata, error) {
	if err := pyjson.Check(content, pyjson.Tolerant); err != nil {
		return nil, err
	}
	obj := pyjson.Trim(content)
	if pyjson.KindOf(obj) != pyjson.Object {
		return nil, errNoObject
	}
	return obj, nil
}

func (md metadata) lookup(name string) ([]byte, bool) { return pyjson.Lookup(md, name) }

// text returns a field where it is a string, else "".
func (md metadata) text(name string) string {
	if raw, ok := md.lookup(name); ok && pyjson.KindOf(raw) == pyjson.String {
		return pyjson.Text(raw)
	}
	return ""
}

// described are the metadata of a session.
type described struct {
	md    metadata // of metadata.json; nil: it is missing or damaged
	older metadata // of its backup; nil: there is none
	lost  error    // metadata.json cannot be read
}

// text returns a field where it is a string, else what it was in the backup.
func (d described) text(name string) string { return cmp.Or(d.md.text(name), d.older.text(name)) }

// metadata returns the metadata of a session.
func (g *Guard) metadata(ctx context.Context, id string) (d described) {
	d.lost = g.Sessions.Read(ctx, id, func(dir *sessiondir.Dir) (err error) {
		d.older, _ = readMetadata(dir, sessiondir.Backup(sessiondir.Metadata)) // a damaged backup says nothing
		d.md, err = readMetadata(dir, sessiondir.Metadata)
		return err
	})
	if errors.Is(d.lost, fs.ErrNotExist) {
		d.lost = nil
	}
	return d
}

func readMetadata(dir *sessiondir.Dir, name string) (metadata, error) {
	content, _, err := dir.Read(name)
	if err != nil {
		return nil, err
	}
	return parseMetadata(content)
}
