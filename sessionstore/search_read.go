package sessionstore

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/pytime"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// readMetadata reads the metadata of c, in buf if there is room enough, and
// sees whether it fits the query. What seems damaged is read again with care:
// it may just be being written.
func (s *search) readMetadata(c *candidate, buf []byte) {
	obj, err := readIn(buf, c.shelf, c.name, sessiondir.Metadata)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil || pyjson.Check(obj, pyjson.Tolerant) != nil || pyjson.KindOf(pyjson.Trim(obj)) != pyjson.Object {
		md, err := carefully(c.shelf.Path(c.name))
		if c.err = err; err != nil || md.none() {
			return
		}
		obj = md.object()
	}
	c.describe(pyjson.Trim(obj))
	c.ok = !c.timed || s.query.spans(c.Created)
}

// carefully reads the metadata of the session in path as [Store.Load] reads a
// file. The result is zero where there is none.
func carefully(path string) (md Metadata, err error) {
	base, err := sessiondir.Open(filepath.Dir(path), nil)
	if err != nil {
		return md, err
	}
	defer func() { err = also(err, base.Close()) }()
	dir, err := base.Dir(filepath.Base(path))
	if errors.Is(err, fs.ErrNotExist) {
		return md, nil
	}
	if err != nil {
		return md, err
	}
	defer func() { err = also(err, dir.Close()) }()
	f := readFile(dir, sessiondir.Metadata)
	md = f.parseMetadata()
	if f.bad != nil {
		return md, f.bad
	}
	return md, nil
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

// spans reports whether at lies between After and Before.
func (q *Query) spans(at time.Time) bool {
	return (q.After.IsZero() || at.After(q.After)) && (q.Before.IsZero() || at.Before(q.Before))
}

// readIn reads a file of a session that tells by itself whether it is whole,
// into buf if there is room enough.
func readIn(buf []byte, shelf *sessiondir.Shelf, id, name string) ([]byte, error) {
	data, err := shelf.Quickly(id, name, buf)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return data, err
	}
	f, err := shelf.Open(id, name)
	if err != nil {
		return buf, err
	}
	for err == nil {
		var n int
		buf = slices.Grow(buf, bytes.MinRead)
		n, err = f.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return buf, also(err, f.Close())
}
