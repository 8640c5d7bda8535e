package private

import (
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

// metadata returns the metadata of a session, from the backup where metadata.json is missing
// or damaged; whole reports that it is metadata.json.
func (g *Guard) metadata(ctx context.Context, id string) (md metadata, whole bool, err error) {
	err = g.Sessions.Read(ctx, id, func(dir *sessiondir.Dir) error {
		var damaged error
		for _, name := range []string{sessiondir.Metadata, sessiondir.Backup(sessiondir.Metadata)} {
			content, _, err := dir.Read(name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil { // a backup, which is older, says nothing then
				return err
			}
			if md, err = parseMetadata(content); err == nil {
				whole = name == sessiondir.Metadata
				return nil
			}
			damaged = errors.Join(damaged, err)
		}
		return damaged
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return md, whole, err
}
