package sessionstore

import (
	"context"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// Replace makes messages the transcript, if it still is the one of revision
// old; else the error Is [ErrConflict] and nothing changes. What was replaced
// becomes the backup. Metadata stays as it is.
func (st *Store) Replace(ctx context.Context, id string, old Revision, messages []Message) (Revision, error) {
	now := Revision{}
	err := st.writeOwned(ctx, "replace transcript of", id, openExisting, func(tx *transaction) error {
		t, err := tx.transcript(tx.metadata().md)
		if err != nil {
			return err
		}
		if t.revision() != old {
			return ErrConflict
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := tx.conflict(sessiondir.Transcript, tx.saveTranscript(t, messages)); err != nil {
			return err
		}
		written := tx.read(Metadata{})
		now = written.revision()
		return nil
	})
	return now, err
}

// Revision identifies the transcript as [Store.Load] would read it.
func (st *Store) Revision(ctx context.Context, id string) (Revision, error) {
	err := st.begin(ctx)
	if err != nil {
		return Revision{}, wrap("read", id, err)
	}
	defer st.done()
	dir, err := st.openDir(id)
	if err != nil {
		return Revision{}, wrap("read", id, err)
	}
	s := st.cache.call(id)
	defer st.cache.end(s)
	t := st.transcriptOf(s, dir, id, st.metadataOf(s, dir, id).md)
	if err := joinErrors(t.damage, dir.Close()); err != nil {
		return t.revision(), wrap("read", id, err)
	}
	return t.revision(), nil
}
