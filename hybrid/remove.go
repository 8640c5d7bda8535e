package hybrid

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/tip"
)

// tombstoneDays is how long the cloud remembers that a session was deleted:
// until then a device that was away does not send it again.
const tombstoneDays = 90

// DeleteRemote removes a session from the cloud: for every device, but no file
// on any. Devices that have it keep it and report [DeletedRemotely]; it is not
// sent again. The error Is [ErrShared] while forks in the cloud need its lines, or
// one may be about to: its first upload began less than a week ago.
// A call that was interrupted is finished by the next.
func (s *Store) DeleteRemote(ctx context.Context, id string) error {
	if s.engine == nil {
		return wrap("delete in the cloud", id, ErrNoContainer)
	}
	s.engine.budget.reopen()
	for range rounds {
		err := s.engine.deleteRemote(ctx, id)
		if !errors.Is(err, errLost) && !errors.Is(err, errMoved) {
			return wrap("delete in the cloud", id, err)
		}
	}
	return wrap("delete in the cloud", id, ErrContended)
}

func (e *engine) deleteRemote(ctx context.Context, id string) error {
	v, leave, err := e.examine(ctx, id)
	if err != nil {
		return err
	}
	defer leave()
	if !v.tip.Deleted {
		if err := v.unshared(ctx); err != nil {
			return err
		}
		if err := v.bury(ctx); err != nil {
			return err
		}
	}
	if err := v.states.save(v.sid, v.st); err != nil {
		return err
	}
	v.last = true
	if err := v.catalogue(ctx); err != nil {
		return err
	}
	return v.purge(ctx)
}

const listForks = `SELECT c.id, c.child, c._ts FROM c WHERE c.pk = @pk AND c.type = 'fork' ORDER BY c.id`

// unshared refuses to delete what forks in the cloud need.
func (v *visit) unshared(ctx context.Context) error {
	for row, err := range v.link.query(ctx, v.pk, listForks) {
		if err != nil {
			return err
		}
		var fork struct {
			Child string
			TS    int64 `json:"_ts"`
		}
		if json.Unmarshal(row, &fork) != nil || fork.Child == "" {
			continue
		}
		doc, err := v.link.read(ctx, segment.SessionPK(fork.Child), segment.HeadID(fork.Child), "")
		if err != nil {
			return err
		}
		if doc == nil && v.link.serverTime().Sub(time.Unix(fork.TS, 0)) < firstGrace {
			return fmt.Errorf("%w: one is being made", ErrShared)
		}
		if doc == nil {
			continue
		}
		if child, err := tip.Decode(doc.body, fork.Child); err != nil || !child.Deleted && child.From != nil {
			return ErrShared
		}
	}
	return nil
}

// bury replaces the tip by a tombstone.
func (v *visit) bury(ctx context.Context) error {
	p := &parcel{next: v.draft().Tombstone(tombstoneDays * 24 * time.Hour), box: &outbox{link: v.link, pk: v.pk}}
	p.next.Revision = v.tip.Revision + 1
	p.next.Files, p.next.OldMore, p.next.BranchMore = nil, nil, nil
	return v.commit(ctx, p)
}

const listAll = `SELECT c.id, c.type FROM c WHERE c.pk = @pk ORDER BY c.id`

// purge deletes everything of the session but its tombstone. Documents of
// other tools stay.
func (v *visit) purge(ctx context.Context) error {
	pks := []string{v.pk}
	reaches := map[segment.Stream]int{segment.Transcript: v.tip.Transcript.Buckets}
	for st, r := range v.tip.Logs {
		reaches[st] = r.Buckets
	}
	for _, st := range slices.Sorted(maps.Keys(reaches)) {
		for b := 1; b < reaches[st]; b++ {
			pks = append(pks, segment.StreamPK(v.sid, st, b))
		}
	}
	for _, pk := range pks {
		if err := v.purgePartition(ctx, pk); err != nil {
			return fmt.Errorf("purge: %w", err)
		}
	}
	return nil
}

func (v *visit) purgePartition(ctx context.Context, pk string) error {
	var ids []string
	for row, err := range v.link.query(ctx, pk, listAll) {
		if err != nil {
			return err
		}
		var d struct{ ID, Type string }
		if json.Unmarshal(row, &d) == nil && strings.HasPrefix(d.ID, v.sid+"-") && d.ID != segment.HeadID(v.sid) {
			ids = append(ids, d.ID)
		}
	}
	for len(ids) > 0 {
		n := min(len(ids), batchOperations)
		if err := v.link.removeAll(ctx, pk, ids[:n]); err != nil {
			return err
		}
		ids = ids[n:]
	}
	return nil
}

// removeAll deletes documents of one partition, at most as many as a batch
// may hold. That some are gone already is fine.
func (l *link) removeAll(ctx context.Context, pk string, ids []string) error {
	batch := l.container.NewTransactionalBatch(partition(pk))
	for _, id := range ids {
		batch.DeleteItem(id, nil)
	}
	var inside verdict
	v := l.repeat(ctx, func(ctx context.Context) (azcosmos.Response, string, error) {
		r, err := l.container.ExecuteTransactionalBatch(ctx, batch, nil)
		if err == nil {
			inside = cause(r)
		}
		return r.Response, r.SessionToken, err
	})
	if v.class == fine && inside.class == fine {
		return nil
	}
	for _, id := range ids { // one by one, as some were gone or the server has no such batch
		if err := l.remove(ctx, pk, id); err != nil {
			return err
		}
	}
	return nil
}
