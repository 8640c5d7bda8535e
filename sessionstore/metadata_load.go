package sessionstore

import (
	"context"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// Metadata reads the metadata of a session, recovered as by [Store.Load].
func (st *Store) Metadata(ctx context.Context, id string) (Metadata, error) {
	err := st.begin(ctx)
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
