package sessionstore

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/limits"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/vfs"
)

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
		c.err = checkID(c.name)
		return
	}
	if err != nil || pyjson.Check(obj, pyjson.Tolerant) != nil || pyjson.KindOf(pyjson.Trim(obj)) != pyjson.Object {
		md, err := carefully(c.dir.Path(c.name))
		if err == nil && md.isZero() {
			err = c.dir.Lost(c.name)
		}
		if c.err = err; err != nil || md.isZero() {
			return
		}
		obj = md.object()
	}
	c.describe(pyjson.Trim(obj))
	c.ok = !c.timed || q.spans(c.Created)
}

// carefully reads the metadata of the session in path as [Store.Load] reads a
// file. The result is zero where there is none.
func carefully(path string) (md Metadata, err error) {
	base, err := sessiondir.Open(filepath.Dir(path), nil)
	if err != nil {
		return md, err
	}
	defer func() { err = joinErrors(err, base.Close()) }()
	dir, err := base.Dir(filepath.Base(path))
	if errors.Is(err, fs.ErrNotExist) {
		return md, nil
	}
	if err != nil {
		return md, err
	}
	defer func() { err = joinErrors(err, dir.Close()) }()
	f := readFile(dir, sessiondir.Metadata)
	md = f.parseMetadata()
	if f.bad != nil {
		return md, f.bad
	}
	return md, nil
}

// readIn reads a file of a session that tells by itself whether it is whole,
// into buf if there is room enough.
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
	return buf, joinErrors(err, f.Close())
}
