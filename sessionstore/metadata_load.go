package sessionstore

import (
	"context"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// Metadata reads the metadata of a session, recovered as by [Store.Load].
func (st *Store) Metadata(ctx context.Context, id string) (Metadata, error) {
	err := st.admit(ctx)
	if err != nil {
		return Metadata{}, wrap("read metadata of", id, err)
	}
	defer st.done()
	if checkID(id) == nil {
		if md, ok := st.quickMetadata(id); ok {
			return md, nil
		}
	}
	dir, err := st.openDir(id)
	if err != nil {
		return Metadata{}, wrap("read metadata of", id, err)
	}
	s := st.cache.call(id)
	defer st.cache.end(s)
	m := st.metadataOf(s, dir, id)
	if m.recovered != nil {
		st.log.Warn("read backup in place of damaged file", "session", id, "err", m.recovered.Reason)
	}
	if err := dir.Close(); err != nil {
		return Metadata{}, wrap("read metadata of", id, fmt.Errorf("close directory: %w", err))
	}
	return m.md, wrap("read metadata of", id, m.damage)
}

// quickMetadata returns the metadata of a session. ok is false when the file is damaged or
// cannot be read in one step: the caller then reads it with recovery.
func (st *Store) quickMetadata(id string) (md Metadata, ok bool) {
	data, ok := st.base.ReadFast(id, sessiondir.Metadata)
	if !ok {
		return Metadata{}, false
	}
	md, err := metadataIn(data)
	return md, err == nil
}

// transcriptOf returns the transcript in dir. It reads the files only when the
// transcript is not cached or may have changed.
func (st *Store) transcriptOf(s *session, dir *sessiondir.Dir, id string, md Metadata) transcript {
	if c := st.getTranscript(s, dir); c != nil && c.size > 0 && !mayBeAppending(dir) {
		t := transcript{rows: c.rows, cached: c}
		t.main = file{name: sessiondir.Transcript, path: dir.Path(sessiondir.Transcript), found: true, stamp: c.main}
		t.from = fromMain
		return t
	}
	asked := time.Now()
	t := readTranscript(dir, md)
	if t.from == fromNothing && dir.Removed() {
		gone := notFound(id)
		return transcript{unread: gone, damage: gone}
	}
	if t.from == fromMain && t.damage == nil && t.main.stamp.Size == int64(len(t.main.data)) {
		t.cached = cachedTranscriptOf(&t.main, t.rows, asked)
		s.putTranscript(t.cached)
	}
	return t
}

// getTranscript returns the cached transcript, or nil when there is none or the
// file in dir may have changed since.
func (st *Store) getTranscript(s *session, dir *sessiondir.Dir) *cachedTranscript {
	s.mu.Lock()
	c := s.cached
	s.mu.Unlock()
	if c == nil {
		return nil
	}
	now, err := dir.Stat(sessiondir.Transcript)
	if err != nil || !now.Same(c.main) {
		return nil
	}
	if now.Mtime.Equal(c.writtenTime) || st.base.Settled(now, c.checkedAt) {
		return c
	}
	return nil
}

// metadataOf returns the metadata in dir. It reads the files only when the
// metadata is not cached or may have changed.
func (st *Store) metadataOf(s *session, dir *sessiondir.Dir, id string) metadataFile {
	s.mu.Lock()
	cached, at := s.meta, s.metaCheckedAt
	s.mu.Unlock()
	if cached != nil {
		now, err := dir.Stat(sessiondir.Metadata)
		if err == nil && now.Same(cached.main.stamp) && (now.Mtime.Equal(cached.writtenTime) || st.base.Settled(now, at)) {
			return *cached
		}
	}
	asked := time.Now()
	m := readMetadata(dir, id, st.opts.Now)
	if m.unread == nil {
		s.putMetadata(m, asked)
	}
	return m
}
