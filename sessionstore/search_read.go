package sessionstore

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/pytime"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// readMetadata reads the metadata of c through buf, and sees whether it fits
// the query. What seems damaged is read again with care: it may just be being
// written.
func (s *search) readMetadata(c *candidate, buf *bytes.Buffer) {
	err := readInto(buf, s.roots[c.Project], c.Dir, sessiondir.Metadata)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	obj := buf.Bytes()
	if err != nil || pyjson.Check(obj, pyjson.Tolerant) != nil || pyjson.KindOf(pyjson.Trim(obj)) != pyjson.Object {
		md, err := carefully(c.Dir)
		if c.err = err; err != nil || md.members == nil {
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
	c.ID = c.name()
	for m := range pyjson.Members(obj) {
		text := ""
		isText := pyjson.KindOf(m.Value) == pyjson.String
		if isText {
			text = pyjson.Text(m.Value)
		}
		switch {
		case pyjson.KeyIs(m.Key, "session_id"):
			if c.ID = text; !isText {
				c.ID = c.name()
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

// openIn opens the file name of the session in path, which lies in root. What
// is no plain file is an error: opening a pipe would wait for its writer.
func openIn(root *os.Root, path, name string) (*os.File, error) {
	fi, err := os.Stat(filepath.Join(path, name))
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, errNotRegular
	}
	return root.Open(filepath.Join(filepath.Base(path), name))
}

var errNotRegular = errors.New("not a regular file")

// readInto reads the file name of the session in path, which lies in root.
func readInto(buf *bytes.Buffer, root *os.Root, path, name string) (err error) {
	buf.Reset()
	f, err := openIn(root, path, name)
	if err != nil {
		return err
	}
	defer func() { err = also(err, f.Close()) }()
	_, err = buf.ReadFrom(f)
	return err
}
