package sessionstore

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/internal/pytime"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// metadataFile is metadata.json as it was read, with what was wrong.
type metadataFile struct {
	main, backup file
	md           Metadata
	recovered    *Recovery
	damage       error     // both are damaged: md is the reference's placeholder
	set          time.Time // the time that this store gave the file, if it did
}

// none reports whether there is no metadata yet.
func (m *metadataFile) none() bool { return !m.main.found && !m.backup.found }

// readMetadata reads the metadata with the reference's recovery.
func (st *Store) readMetadata(dir *sessiondir.Dir, id string) metadataFile {
	m := metadataFile{main: readFile(dir, sessiondir.Metadata)}
	m.md = m.main.parseMetadata()
	if m.main.sound() {
		return m
	}
	m.backup = readFile(dir, sessiondir.Backup(sessiondir.Metadata))
	md := m.backup.parseMetadata()
	switch {
	case m.backup.sound():
		m.md = md
		if m.main.found {
			m.recovered = recovery(dir, &m.main, &m.backup, m.main.bad)
		}
	case m.main.found || m.backup.found:
		m.md = st.placeholder(id)
		m.damage = errors.Join(asError(m.main.bad), asError(m.backup.bad))
	}
	return m
}

// placeholder is what the reference puts in the place of damaged metadata.
func (st *Store) placeholder(id string) Metadata {
	return must(NewMetadata(struct {
		ID        string `json:"session_id"`
		Recovered bool   `json:"recovered"`
		Time      string `json:"recovery_time"`
	}{id, true, pytime.Format(st.opts.Now().UTC())}))
}

// must is for values that this package makes and knows to be storable.
func must(md Metadata, err error) Metadata {
	if err != nil {
		panic(err) // unreachable: the value holds strings, booleans and numbers
	}
	return md
}

// metadata returns the metadata on disk.
func (w *writing) metadata() metadataFile {
	return w.st.metadataOf(w.s, w.dir, w.id)
}

// metadataOf returns the metadata on disk, without reading it when it is as
// it was last read or written.
func (st *Store) metadataOf(s *session, dir *sessiondir.Dir, id string) metadataFile {
	s.mu.Lock()
	kept, at := s.meta, s.metaAt
	s.mu.Unlock()
	if kept != nil {
		now, err := dir.Stat(sessiondir.Metadata)
		if err == nil && now.Same(kept.main.stamp) && (now.Mtime.Equal(kept.set) || st.base.Settled(now, at)) {
			return *kept
		}
	}
	asked := time.Now()
	m := st.readMetadata(dir, id)
	st.learnMetadata(s, m, asked)
	return m
}

func (st *Store) learnMetadata(s *session, m metadataFile, at time.Time) {
	if !m.main.sound() {
		return
	}
	s.mu.Lock()
	s.meta, s.metaAt = &m, at
	s.mu.Unlock()
}

// replaceMetadata makes content the metadata, unless it is already. The error
// Is [sessiondir.ErrOvertaken] when another writer came between.
func (w *writing) replaceMetadata(m *metadataFile, content []byte) error {
	if m.main.sound() && bytes.Equal(m.main.data, content) {
		return nil
	}
	from := fromMain
	if !m.main.sound() && m.backup.sound() {
		from = fromBackup
	}
	at := atomicfile.Now(m.main.stamp.Mtime)
	err := w.replace(sessiondir.Metadata, at, func(out io.Writer) error {
		_, err := out.Write(content)
		return err
	}, func() (atomicfile.Keep, error) { return w.protect(&m.main, &m.backup, from) })
	if err != nil {
		return err
	}
	return w.relearnMetadata(content, at)
}

// relearnMetadata keeps what was just written, as it reads back, in a file
// that was given the time set.
func (w *writing) relearnMetadata(content []byte, set time.Time) error {
	stamp, err := w.dir.Stat(sessiondir.Metadata)
	if err != nil {
		return err
	}
	if stamp.Size != int64(len(content)) || !stamp.Mtime.Equal(set) {
		return nil // another writer's, or a file system with a coarse clock
	}
	md, err := ParseMetadata(content)
	if err != nil {
		return err
	}
	m := metadataFile{md: md, set: set}
	m.main = file{name: sessiondir.Metadata, path: w.dir.Path(sessiondir.Metadata), found: true, data: content, stamp: stamp}
	w.st.learnMetadata(w.s, m, time.Now())
	return nil
}

// saveMetadata is replaceMetadata that, when another writer came between, lets
// again make new content of what that writer left.
func (w *writing) saveMetadata(m *metadataFile, content []byte, again func(*metadataFile) ([]byte, error)) error {
	err := w.replaceMetadata(m, content)
	for try := 0; try < tries && errors.Is(err, sessiondir.ErrOvertaken); try++ {
		w.s.forget()
		now := w.metadata()
		if content, err = again(&now); err != nil {
			return err
		}
		err = w.replaceMetadata(&now, content)
	}
	return err
}
