package syncer

import (
	"context"
	"errors"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/remote"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// forkBase is the session that another one was forked from.
type forkBase struct {
	head *head.Head
	etag cosmos.ETag
	from *head.From // what both share
}

// forkBase finds out whether a session that the cloud does not have begins with
// lines of the one it was forked from, which the cloud has; nil when not. It
// also returns the id of that session, as the metadata has it.
func (v *push) forkBase(ctx context.Context) (*forkBase, string, error) {
	v.begins = nil
	md, err := v.Store.Metadata(ctx, v.id)
	if err != nil {
		return nil, "", nil // without metadata it has no parent
	}
	parent := md.Text("parent_id")
	if parent == "" || parent == v.id || v.Recreate || !v.worthSharing() {
		return nil, parent, nil
	}
	sid := v.SID(parent)
	doc, err := v.cloud.link.HeadDocument(ctx, sid)
	if err != nil || doc == nil {
		return nil, parent, err
	}
	t, err := head.Decode(doc.Body, sid)
	if err != nil || t.Deleted {
		return nil, parent, nil // of another version, or of no use
	}
	if err := v.shareLogs(ctx, parent, t); err != nil {
		return nil, parent, err
	}
	at, err := v.shareMain(ctx, t)
	if err != nil || at.N == 0 && len(v.begins) == 0 {
		return nil, parent, err
	}
	from := &head.From{SID: sid, Point: at.Point(), Bytes: at.Bytes}
	return &forkBase{head: t, etag: doc.ETag, from: from}, parent, nil
}

// worthSharing reports whether a file of lines is long enough to find out whether the
// parent has its beginning.
func (v *push) worthSharing() bool {
	for _, l := range v.local.logs {
		if l.end().Bytes >= worthSharing {
			return true
		}
	}
	return v.local.main.end().Bytes >= worthSharing
}

// shareMain returns the place up to which the transcript is that of the parent with
// the head t; the beginning when little of it is.
func (v *push) shareMain(ctx context.Context, t *head.Head) (segment.Mark, error) {
	begin := v.local.main.begin()
	if v.local.main.end().Bytes < worthSharing {
		return begin, nil
	}
	infos, err := v.cloud.link.Segments(ctx, t, segment.Transcript, 0)
	if err != nil {
		return begin, err
	}
	n, err := v.local.shared(ctx, infos, t.Transcript.Point())
	if errors.Is(err, remote.ErrDamaged) {
		return begin, nil // what is damaged there is sent anew
	}
	if err != nil {
		return begin, err
	}
	at, ok, err := v.local.main.mark(ctx, n)
	if err != nil || !ok {
		return begin, errors.Join(errMoved, err)
	}
	if at.Bytes < worthSharing {
		return begin, nil
	}
	return at, nil
}

// putForkRef notes in the parent's partition what a fork needs of it, with a new etag
// of the parent's head: whoever is about to remove lines there, or the session,
// has to look again.
func (v *push) putForkRef(ctx context.Context, o *forkBase) error {
	doc, err := o.head.Encode()
	if err != nil {
		return err
	}
	note := head.ForkRef(o.from, v.sid)
	if v.estimate != nil {
		v.estimate.count(doc.Body, true)
		v.estimate.count(note.Body, false)
		return nil
	}
	a := v.cloud.link.Batch(ctx, doc.PK, cosmos.Swap(doc.ID, doc.Body, o.etag), cosmos.Put(note.Body))
	return a.Lost()
}
