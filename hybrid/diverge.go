package hybrid

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/internal/pytime"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/tip"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// forkID is the id of the session that keeps a line here: the same for the
// same line, so that a crash leaves no second one.
func (v *visit) forkID(p segment.Point) string {
	b := sha256.Sum256([]byte("fork\x00" + v.sid + "\x00" + p.Hash.String()))
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// keepAsFork makes the transcript here a session of its own, laid out as a
// fork: it shares the first common records with what the session goes on with.
func (v *visit) keepAsFork(ctx context.Context, id string, common int64) error {
	if v.st.has(id) && !v.in.Has(id) {
		return nil // it was kept, and removed since
	}
	at, ok, err := v.main.mark(ctx, common)
	if err != nil || !ok {
		return errors.Join(errMoved, err)
	}
	md, err := v.forkMetadata(ctx, id, at.Turn)
	if err != nil {
		return err
	}
	err = v.in.Make(ctx, id, func(w *sessionstore.Work) error {
		err := w.Dir().Replace(sessiondir.Transcript, v.in.Sync(), atomicfile.Now(time.Time{}), func(out io.Writer) error {
			return writeLines(out, v.main.raw(ctx, 0))
		})
		if err != nil {
			return err
		}
		w.Renamed(sessiondir.Transcript)
		return w.SetMetadata(md)
	})
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := v.in.Harden(ctx, id, sessiondir.Transcript, sessiondir.Metadata); err != nil {
		return gone(err)
	}
	v.st.Kept = append(v.st.Kept, id)
	v.marks.mark(id, written)
	return v.states.save(v.sid, v.st)
}

func (s *state) has(kept string) bool {
	for _, id := range s.Kept {
		if id == kept {
			return true
		}
	}
	return false
}

// forkMetadata is what a fork's metadata holds, with what else was known here.
func (v *visit) forkMetadata(ctx context.Context, id string, turn int) (sessionstore.Metadata, error) {
	from, err := v.store.Metadata(ctx, v.id)
	if err != nil {
		from = sessionstore.Metadata{} // damaged or not there: the lineage is what counts
	}
	now := pytime.Format(v.in.Now().UTC().Truncate(time.Microsecond))
	var md sessionstore.Metadata
	set := func(name string, value any) {
		if err := md.Set(name, value); err != nil {
			v.log.Warn("member of a fork's metadata left out", "session", id, "err", err)
		}
	}
	set("session_id", id)
	set("parent_id", v.id)
	set("forked_from_turn", turn)
	set("forked_at", now)
	set("created", now)
	set("turn_count", v.main.end().Turn)
	for _, name := range []string{"bundle", "model"} {
		raw, ok := from.Lookup(name)
		if !ok {
			raw = []byte("null")
		}
		set(name, json.RawMessage(raw))
	}
	if raw, ok := from.Lookup("working_dir"); ok {
		set("working_dir", json.RawMessage(raw))
	}
	return md, nil
}

// worthSharing is how much a fork must have in common with its parent, in
// bytes, before it refers to the parent's segments.
const worthSharing = 4 << 10

// origin is the session that another one was forked from.
type origin struct {
	tip  *tip.Tip
	etag azcore.ETag
	from *tip.From // what both share
}

// origin finds out whether a session that the cloud does not have begins with
// lines of the one it was forked from, which the cloud has; nil when not. It
// also returns the id of that session, as the metadata has it.
func (v *visit) origin(ctx context.Context) (*origin, string, error) {
	md, err := v.store.Metadata(ctx, v.id)
	if err != nil {
		return nil, "", nil // without metadata it has no parent
	}
	parent := md.Text("parent_id")
	if parent == "" || parent == v.id || v.main.end().Bytes < worthSharing {
		return nil, parent, nil
	}
	sid := v.engine.sid(parent)
	doc, err := v.link.read(ctx, segment.SessionPK(sid), segment.HeadID(sid), "")
	if err != nil || doc == nil {
		return nil, parent, err
	}
	t, err := tip.Decode(doc.body, sid)
	if err != nil || t.Deleted || t.Redaction != v.redaction() {
		return nil, parent, nil // of another version, or of no use
	}
	infos, err := v.link.segments(ctx, t, segment.Transcript, t.Transcript.Buckets, 0)
	if err != nil {
		return nil, parent, err
	}
	n, err := v.shared(ctx, infos, t.Transcript.Point())
	if errors.Is(err, ErrDamaged) {
		return nil, parent, nil // what is damaged there is sent anew
	}
	if err != nil {
		return nil, parent, err
	}
	at, ok, err := v.main.mark(ctx, n)
	if err != nil || !ok {
		return nil, parent, errors.Join(errMoved, err)
	}
	if at.Bytes < worthSharing {
		return nil, parent, nil
	}
	from := &tip.From{SID: sid, Point: at.Point(), Bytes: at.Bytes, Buckets: segment.Bucket(at.N, at.Bytes) + 1}
	return &origin{tip: t, etag: doc.etag, from: from}, parent, nil
}

// bind notes in the parent's partition what a fork needs of it, with a new etag
// of the parent's tip: whoever is about to remove lines there, or the session,
// has to look again.
func (v *visit) bind(ctx context.Context, o *origin) error {
	head, err := o.tip.Encode()
	if err != nil {
		return err
	}
	note := lineage(o.from, v.sid)
	if v.estimate != nil {
		v.estimate.count(head.Body, true)
		v.estimate.count(note.Body, false)
		return nil
	}
	batch := v.link.container.NewTransactionalBatch(partition(head.PK))
	batch.ReplaceItem(head.ID, head.Body, &azcosmos.TransactionalBatchItemOptions{IfMatchETag: &o.etag})
	batch.UpsertItem(note.Body, nil)
	_, _, done := v.link.execute(ctx, batch)
	v.link.sent(done, head.Body, note.Body)
	if done.class != fine {
		return lostTo(done)
	}
	return nil
}

// typeFork is the type of documents that name the forks of a session in the
// session's own partition: whoever deletes it has to know of them.
const typeFork = "fork"

func lineage(from *tip.From, child string) segment.Document {
	pk, id := segment.SessionPK(from.SID), from.SID+"-f-"+child
	body := fmt.Sprintf(`{"id":%q,"pk":%q,"type":%q,"v":%d,"child":%q,"from":{"n":%d,"h":%q}}`,
		id, pk, typeFork, segment.Version, child, from.N, from.Hash)
	return segment.Document{ID: id, PK: pk, Type: typeFork, Body: []byte(body)}
}
