package projects

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Query describes the sessions that [Projects.Find] looks for. Members that are zero do
// not narrow the search.
type Query struct {
	Project       string    // slug of the one project to look in
	After, Before time.Time // Created lies strictly between; sessions without a readable time stay
	Tool          string    // from which the session came, as in [Found]
	Keyword       string    // in a row of the transcript as Python writes it, in any case: "role": "user" is in most

	// Skip leaves out the session in a directory before any of its files is read: no error is
	// about it. Many goroutines call it at once.
	Skip func(dir string) bool

	// Match decides last, and only on sessions that fit all other members. It is called
	// for one session at a time, with the name of its directory.
	Match func(ctx context.Context, st *sessionstore.Store, id string) (bool, error)

	Limit int // the most sessions to find; 0 or less: all
}

// spans reports whether at lies between After and Before.
func (q *Query) spans(at time.Time) bool {
	return (q.After.IsZero() || at.After(q.After)) && (q.Before.IsZero() || at.Before(q.Before))
}

// ParseDate reads a date or a time that a person wrote, for [Query.After] and
// [Query.Before]. It takes the same texts as the reference's search, ISO 8601 as Python's
// datetime.fromisoformat reads it: 2026-08-01, 2026-08-01T10:30, 2026-08-01
// 10:30:00+02:00, 20260801, 2026-W31-6. A date alone is its midnight. A time without an
// offset is in UTC, another keeps its offset; digits below a microsecond are dropped. The
// error shows the text, the beginning of a long one, and the fault.
func ParseDate(text string) (time.Time, error) { return pytime.ParseFilter(text) }

// Found is one session that [Projects.Find] found.
type Found struct {
	ID          string // session_id of the metadata, else the base name of Dir, by which a [sessionstore.Store] knows the session
	Project     string
	Dir         string
	Created     time.Time // zero where CreatedText is no time; UTC where it has no zone
	CreatedText string    // "" where it is missing or no string

	Bundle, Model string // "" where they are missing or no strings
	Tool          string // from whose history the session was imported, as "claude", "codex", "opencode" or "pi"; else "native"
}

// candidate is a session that may be found.
type candidate struct {
	Found
	dir      *vfs.Reader // the sessions directory
	name     string      // of its directory
	position int         // its place among all candidates, by project and name
	timed    bool        // CreatedText is a time
	ok       bool        // it fits the query so far
	err      error       // not nil: it cannot be read
}

// describe fills in the facts about the session from obj, the metadata of c.
func (c *candidate) describe(obj []byte) {
	c.ID, c.Tool = c.name, "native"
	for m := range pyjson.Members(obj) {
		if len(m.Key) < 2 || strings.IndexByte(`scbmi\`, m.Key[1]) < 0 {
			continue // none of the names below, nor an escape that may begin one
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
		case pyjson.KeyIs(m.Key, "import") && pyjson.KindOf(m.Value) == pyjson.Object:
			tool, _ := pyjson.Lookup(m.Value, "tool")
			c.Tool = cmp.Or(pyjson.Text(tool), c.Tool)
		}
	}
	c.Created, c.timed = pytime.ParseCreated(c.CreatedText)
}

// isRemoved reports whether the session was removed since it was listed, alone or with its
// project.
func (c *candidate) isRemoved() bool {
	_, err := os.Stat(c.dir.Path(c.name))
	return errors.Is(err, fs.ErrNotExist)
}

// readCandidate reads the metadata of c, into buf if there is room enough, and
// sets c.ok when it fits q. Metadata that seems damaged is read again with care:
// another program may be writing it.
func readCandidate(c *candidate, q *Query, buf []byte) {
	obj, err := readIn(buf, c.dir, c.name, sessiondir.Metadata)
	if errors.Is(err, fs.ErrNotExist) {
		c.err = c.dir.Lost(c.name)
		return
	}
	if !utf8.ValidString(c.name) {
		c.err = core.CheckID(c.name)
		return
	}
	if err != nil || pyjson.Check(obj, pyjson.Tolerant) != nil || pyjson.KindOf(pyjson.Trim(obj)) != pyjson.Object {
		md, found, err := readWithBackup(c.dir.Path(c.name))
		if err == nil && !found {
			err = c.dir.Lost(c.name)
		}
		if c.err = err; err != nil || !found {
			return
		}
		obj = md.AppendTo(nil)
	}
	c.describe(pyjson.Trim(obj))
	c.ok = (!c.timed || q.spans(c.Created)) && (q.Tool == "" || q.Tool == c.Tool)
}

// readWithBackup reads the metadata of the session in path as [sessionstore.Store.Load] reads
// a file.
func readWithBackup(path string) (md sessionstore.Metadata, found bool, err error) {
	base, err := sessiondir.Open(filepath.Dir(path), nil)
	if err != nil {
		return md, false, err
	}
	defer func() { err = errors.Join(err, base.Close()) }()
	dir, err := base.Dir(filepath.Base(path))
	if errors.Is(err, fs.ErrNotExist) {
		return md, false, nil
	}
	if err != nil {
		return md, false, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	return core.ReadMetadata(dir)
}

// readIn reads a file of a session, into buf if there is room enough. The content of the
// file must show whether it is whole.
func readIn(buf []byte, dir *vfs.Reader, id, name string) ([]byte, error) {
	data, err := dir.ReadFast(id, name, buf)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return data, err
	}
	f, err := dir.Open(id, name)
	if err != nil {
		return buf, err
	}
	for err == nil {
		var n int
		buf = slices.Grow(buf, bytes.MinRead)
		n, err = f.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == nil {
			err = limits.Check(int64(len(buf)))
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return buf, errors.Join(err, f.Close())
}

// newestFirst returns the candidates in the order of Find. Those with a time
// are sorted by it; each of the others goes before the first of them whose
// text is smaller, so that texts in one notation are in the order of the
// reference, which knows the text alone.
func newestFirst(all []*candidate) []*candidate {
	var timed, others []*candidate
	for _, c := range all {
		if c.timed {
			timed = append(timed, c)
		} else {
			others = append(others, c)
		}
	}
	lastText := func(a, b *candidate) int {
		return cmp.Or(strings.Compare(b.CreatedText, a.CreatedText), a.position-b.position)
	}
	slices.SortFunc(timed, func(a, b *candidate) int { return cmp.Or(b.Created.Compare(a.Created), lastText(a, b)) })
	slices.SortFunc(others, lastText)
	merged := make([]*candidate, 0, len(all))
	for _, c := range timed {
		for len(others) > 0 && others[0].CreatedText > c.CreatedText {
			merged, others = append(merged, others[0]), others[1:]
		}
		merged = append(merged, c)
	}
	return append(merged, others...)
}
