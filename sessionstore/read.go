package sessionstore

import (
	"errors"
	"io/fs"

	"github.com/amplifier-go/sessionstorage/internal/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// file is one file of a session as it was read.
type file struct {
	name  string
	path  string // for errors
	found bool
	data  []byte
	stamp sessiondir.Stamp
	bad   *CorruptError // nil: sound, or not found
}

func (f *file) sound() bool { return f.found && f.bad == nil }

// readFile reads the file name of dir. That it cannot be read is damage, too.
func readFile(dir *sessiondir.Dir, name string) file {
	f := file{name: name, path: dir.Path(name), found: true}
	data, stamp, err := dir.Read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.found = false
	case err != nil:
		f.bad = &CorruptError{Path: f.path, Err: cause(err)}
	}
	f.data, f.stamp = data, stamp
	return f
}

// cause strips the operation and the path that a *fs.PathError repeats.
func cause(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// parseRows returns the messages of f that can be read, and marks f damaged
// by the first line that cannot.
func (f *file) parseRows() []Message {
	slab := make([]message, 0, jsonl.Count(f.data))
	rows := make([]Message, 0, cap(slab))
	keep := func(raw, value []byte) {
		if len(slab) == cap(slab) { // more rows than lines: split at CR
			slab = make([]message, 0, 64)
		}
		slab = append(slab, message{raw: raw, role: roleOf(value), read: true})
		rows = append(rows, Message{&slab[len(slab)-1]})
	}
	for line := range jsonl.Lines(f.data) {
		if err := parseLine(line, keep); err != nil && f.bad == nil {
			f.bad = &CorruptError{Path: f.path, Line: line.Number, Offset: line.Offset, Err: err}
		}
	}
	return rows
}

// parseLine hands the message of a line, with and without the space around
// it, to keep; a blank line has none. A line that does not parse whole but
// holds carriage returns is split at them, since the older tools read it so.
func parseLine(line jsonl.Line, keep func(raw, value []byte)) error {
	value := pyjson.TrimSpace(line.Bytes)
	if len(value) == 0 {
		return nil
	}
	err := pyjson.Check(value, pyjson.Tolerant)
	if err == nil {
		keep(line.Bytes, value)
		return nil
	}
	split := false
	for part := range jsonl.SplitCR(line) {
		split = split || len(part.Bytes) < len(line.Bytes)
	}
	if !split {
		return err
	}
	err = nil
	for part := range jsonl.SplitCR(line) {
		value := pyjson.TrimSpace(part.Bytes)
		if len(value) == 0 {
			continue
		}
		if perr := pyjson.Check(value, pyjson.Tolerant); perr != nil {
			err = errors.Join(err, perr)
			continue
		}
		keep(part.Bytes, value)
	}
	return err
}

// parseMetadata returns the metadata in f, and marks f damaged when it holds
// something else.
func (f *file) parseMetadata() Metadata {
	if !f.sound() {
		return Metadata{}
	}
	md, err := ParseMetadata(f.data)
	if errors.As(err, &f.bad) {
		f.bad.Path = f.path
	}
	return md
}
