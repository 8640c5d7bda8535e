package sessionstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/pytime"
	"github.com/amplifier-go/sessionstorage/internal/vfs"
)

// Query says which sessions [Projects.Find] looks for. Members that are zero
// do not narrow the search.
type Query struct {
	Project       string    // slug of the one project to look in
	After, Before time.Time // Created lies strictly between; sessions without a readable time stay
	Keyword       string    // in a row of the transcript as Python writes it, in any case: "role": "user" is in most

	// Match decides last, and only on what all the others let through. It is
	// called for one session at a time, with the name of its directory.
	Match func(ctx context.Context, st *Store, id string) (bool, error)

	Limit int // the first so many are found; 0 or less: all

	Days *time.Location // for [Projects.Usage]: whose days are told; nil: UTC
}

// spans reports whether at lies between After and Before.
func (q *Query) spans(at time.Time) bool {
	return (q.After.IsZero() || at.After(q.After)) && (q.Before.IsZero() || at.Before(q.Before))
}

// Found is one session that [Projects.Find] found.
type Found struct {
	ID          string // session_id of the metadata, else the base name of Dir, by which a [Store] knows the session
	Project     string
	Dir         string
	Created     time.Time // zero where CreatedText is no time; UTC where it has no zone
	CreatedText string    // "" where it is missing or no string

	Bundle, Model string // "" where they are missing or no strings
}

// candidate is a session that may be found.
type candidate struct {
	Found
	dir   *vfs.Reader // where it stands
	name  string      // of its directory
	place int         // among all, by project and name
	timed bool        // CreatedText is a time
	ok    bool        // nothing speaks against it yet
	err   error       // it cannot be read
}

// describe fills in what obj, the metadata of c, says about the session.
func (c *candidate) describe(obj []byte) {
	c.ID = c.name
	for m := range pyjson.Members(obj) {
		if len(m.Key) < 2 || strings.IndexByte(`scbm\`, m.Key[1]) < 0 {
			continue // none of those below, nor an escape that may begin one
		}
		text := ""
		isText := pyjson.KindOf(m.Value) == pyjson.String
		switch {
		case isText && pyjson.KeyIs(m.Value, c.name): // as session_id nearly always
			text = c.name
		case isText:
			text = pyjson.Text(m.Value)
		}
		switch {
		case pyjson.KeyIs(m.Key, "session_id"):
			if c.ID = text; !isText {
				c.ID = c.name
			}
		case pyjson.KeyIs(m.Key, "created"):
			c.CreatedText = text
		case pyjson.KeyIs(m.Key, "bundle"):
			c.Bundle = text
		case pyjson.KeyIs(m.Key, "model"):
			c.Model = text
		}
	}
	c.Created, c.timed = pytime.ParseCreated(c.CreatedText)
}

// gone reports whether the session was removed since it was listed, with its
// project or alone.
func (c *candidate) gone() bool {
	_, err := os.Stat(c.dir.Path(c.name))
	return errors.Is(err, fs.ErrNotExist)
}
