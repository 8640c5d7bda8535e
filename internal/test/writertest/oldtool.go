package writertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

// An OldTool reads and saves the session in directory Dir as the reference's
// older version does: it copies a file over its backup in place, writes a
// temporary file, and renames that. It locks nothing and syncs nothing.
type OldTool struct {
	Dir string
	// Step is called before each system call, with its name. It may pause, or
	// let others write. Nil does nothing.
	Step func(step string)
}

// Load implements [Tool].
func (o *OldTool) Load() (Loaded, error) {
	var l Loaded
	for i, name := range []string{Transcript, TranscriptBackup} {
		rows, state, err := o.loadFile(name)
		if i == 0 {
			l.Main = state
		}
		if err != nil {
			return l, err
		}
		if state == Whole {
			l.Rows = rows
			return l, nil
		}
	}
	return l, nil
}

func (o *OldTool) loadFile(name string) ([]string, State, error) {
	data, err := o.read(name)
	if err != nil { // whatever it is, the backup is tried
		return nil, Missing, nil
	}
	if !utf8.Valid(data) {
		return nil, Torn, fmt.Errorf("load %s: UnicodeDecodeError", name)
	}
	rows, ok := Parse(data)
	if !ok {
		return nil, Torn, nil
	}
	return rows, Whole, nil
}

// Parse splits a transcript into rows, and reports whether each is JSON.
func Parse(data []byte) (rows []string, ok bool) {
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if !json.Valid([]byte(line)) {
			return nil, false
		}
		rows = append(rows, line)
	}
	return rows, true
}

// Save implements [Tool]. As in Python, errors of the backup do not matter.
func (o *OldTool) Save(name, content string) (renamed time.Time, err error) {
	o.step("stat " + name)
	if _, err := os.Stat(o.path(name)); err == nil {
		_ = o.copyBackup(name)
	}
	o.step("create temporary")
	tmp, err := os.CreateTemp(o.Dir, "."+strings.TrimSuffix(name, filepath.Ext(name))+"_*.tmp")
	if err != nil {
		return renamed, err
	}
	o.step("write temporary")
	_, err = tmp.WriteString(content)
	o.step("close temporary")
	if err := errors.Join(err, tmp.Close()); err != nil {
		return renamed, err
	}
	o.step("rename over " + name)
	renamed = time.Now()
	return renamed, os.Rename(tmp.Name(), o.path(name))
}

// copyBackup copies the file name onto its backup in place, then gives the backup the
// file's time and mode after the copy.
func (o *OldTool) copyBackup(name string) error {
	from, to := o.path(name), o.path(name+".backup")
	if same, err := o.sameFile(from, to); err != nil || same {
		return err
	}
	if err := o.copyInPlace(from, to); err != nil {
		return err
	}
	o.step("stat " + name + " for its time")
	fi, err := os.Stat(from)
	if err != nil {
		return err
	}
	o.step("set time of backup")
	if err := os.Chtimes(to, fi.ModTime(), fi.ModTime()); err != nil {
		return err
	}
	o.step("set mode of backup")
	return os.Chmod(to, fi.Mode())
}

func (o *OldTool) sameFile(from, to string) (bool, error) {
	o.step("stat source")
	a, err := os.Stat(from)
	if err != nil {
		return false, err
	}
	o.step("stat backup")
	b, err := os.Stat(to)
	if err != nil {
		return false, nil //nolint:nilerr // there is no backup yet
	}
	return os.SameFile(a, b), nil
}

// copyInPlace copies the file from over the file to, following links, in pieces.
func (o *OldTool) copyInPlace(from, to string) (err error) {
	o.step("open source")
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	o.step("open backup and empty it")
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		o.step("close backup")
		err = errors.Join(err, dst.Close())
	}()
	return o.pieces(src, func(b []byte) error {
		o.step("write backup")
		_, err := dst.Write(b)
		return err
	})
}

// read returns the content of the file name, read in pieces.
func (o *OldTool) read(name string) (data []byte, err error) {
	o.step("open " + name)
	f, err := os.Open(o.path(name))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	err = o.pieces(f, func(b []byte) error {
		data = append(data, b...)
		return nil
	})
	return data, err
}

// pieceSize makes some pieces of a transcript of tests.
const pieceSize = 512

// pieces gives the content of f to take, piece by piece.
func (o *OldTool) pieces(f *os.File, take func([]byte) error) error {
	buf := make([]byte, pieceSize)
	for {
		o.step("read " + filepath.Base(f.Name()))
		n, err := f.Read(buf)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := take(buf[:n]); err != nil {
			return err
		}
	}
}

func (o *OldTool) path(name string) string { return filepath.Join(o.Dir, name) }

func (o *OldTool) step(name string) {
	if o.Step != nil {
		o.Step(name)
	}
}
