package slice

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/limits"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/turns"
	"github.com/amplifier-go/sessionstorage/internal/vfs"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// scanned is what the metadata of all sessions tell about one of them.
type scanned struct {
	children []Child           // newest first
	stored   map[string]string // directories by a session_id that is not their name; "": several have it
	skipped  []error           // an error for each session that could not be read
}

// scan reads the metadata of all sessions, for the session in the directory id that
// has the session_id sessionID.
func scan(ctx context.Context, st *sessionstore.Store, id, sessionID string) (all scanned, err error) {
	all = scanned{children: []Child{}, stored: map[string]string{}}
	dir, err := vfs.OpenReader(st.Dir())
	if err != nil {
		return all, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	names, err := dir.Names()
	if err != nil {
		return all, err
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return all, err
		}
		if strings.HasPrefix(name, ".") || vfs.OfSystem(name) {
			continue
		}
		raw, err := readMetadata(ctx, st, dir, name)
		if raw == nil && err == nil {
			if err = dir.Lost(name); err == nil {
				continue
			}
			err = &sessionstore.Error{Op: "read metadata of", Session: name, Err: err}
		}
		if err != nil {
			all.skipped = append(all.skipped, err)
			continue
		}
		if !utf8.ValidString(name) {
			_, err = st.Metadata(ctx, name) // which says so
			all.skipped = append(all.skipped, err)
			continue
		}
		members := turns.Members(raw, "parent_id", "session_id")
		all.noteStored(name, members[1])
		if !isText(members[0], id) && !isText(members[0], sessionID) {
			continue
		}
		c, err := childOf(st, name, raw)
		if err != nil {
			all.skipped = append(all.skipped, err)
			continue
		}
		all.children = append(all.children, c)
	}
	newestFirst(all.children)
	return all, nil
}

// noteStored takes the session_id of the session in the directory name.
func (all *scanned) noteStored(name string, sessionID []byte) {
	if pyjson.KindOf(sessionID) != pyjson.String || pyjson.KeyIs(sessionID, name) {
		return
	}
	id := pyjson.Text(sessionID)
	if _, twice := all.stored[id]; twice {
		name = ""
	}
	all.stored[id] = name
}

// isText reports whether raw is that text.
func isText(raw []byte, text string) bool {
	return pyjson.KindOf(raw) == pyjson.String && pyjson.KeyIs(raw, text)
}

// readMetadata returns the metadata of a session from their file, or else from
// the backup. It returns nil if there are none.
func readMetadata(ctx context.Context, st *sessionstore.Store, dir *vfs.Reader, id string) ([]byte, error) {
	raw, err := readFile(dir, id)
	if err == nil {
		raw = pyjson.Trim(raw)
		if pyjson.KindOf(raw) == pyjson.Object && pyjson.Check(raw, pyjson.Tolerant) == nil {
			return raw, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) && !dir.Has(id, sessiondir.Backup(sessiondir.Metadata)) {
		return nil, nil
	}
	md, err := st.Metadata(ctx, id)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, sessionstore.ErrInvalidID) {
		return nil, nil // it has gone, or never was a session
	}
	if err != nil {
		return nil, err
	}
	return md.AppendTo(nil), nil
}

func readFile(dir *vfs.Reader, id string) (raw []byte, err error) {
	file, err := dir.Open(id, sessiondir.Metadata)
	if err != nil {
		return nil, err
	}
	raw, err = limits.ReadAll(file)
	return raw, errors.Join(err, file.Close())
}
