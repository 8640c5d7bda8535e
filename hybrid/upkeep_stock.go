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

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/tip"
)

// stock is what lies in the partitions of a session, listed after its tip was
// read.
type stock struct {
	docs     []*stored
	segments map[segment.Stream][]segment.Info // the session's own
	from     *tip.From                         // of a fork: where its own begin
	past     []segment.Info                    // of the transcripts that it was forked from
	branches []*tip.Tip
	former   []tip.Old
	written  map[string]time.Time // of segments, by id
	now      time.Time            // by the server's clock
}

// stored is a document of the session.
type stored struct {
	ID   string      `json:"id"`
	PK   string      `json:"pk"`
	Type string      `json:"type"`
	ETag azcore.ETag `json:"_etag"`
	TS   int64       `json:"_ts"` // seconds since 1970, of the last write
	Refs []struct {
		Chunks []string `json:"chunks"`
	} `json:"refs"` // of a segment
	Child string        `json:"child"` // of a fork
	From  segment.Point `json:"from"`  // of a fork: what it needs of this session

	info *segment.Info // of a segment; nil when it cannot be read
}

const listStock = `SELECT c.id, c.pk, c.type, c.v, c.st, c.seq, c.n, c["end"], c.prev, c.hash, c.off, c.bytes, c["at"], c.base, ` +
	`c.refs, c.child, c["from"], c._etag, c._ts FROM c WHERE c.pk = @pk ORDER BY c.id`

// take lists everything of the session. What other tools put there is passed
// over.
func (u *keeper) take(ctx context.Context) (*stock, error) {
	s := &stock{segments: map[segment.Stream][]segment.Info{}, written: map[string]time.Time{}}
	if err := u.takePartition(ctx, u.pk, s); err != nil {
		return nil, err
	}
	if err := u.takeBranches(ctx, s); err != nil {
		return nil, err
	}
	former, err := u.formerTips(ctx)
	if err != nil {
		return nil, fmt.Errorf("list former tips: %w", err)
	}
	s.former = former
	for _, pk := range u.furtherPartitions(s) {
		if err := u.takePartition(ctx, pk, s); err != nil {
			return nil, err
		}
	}
	if err := u.takePast(ctx, s); err != nil {
		return nil, err
	}
	if date := u.link.serverTime(); date.After(s.now) {
		s.now = date
	}
	return s, nil
}

// takePast lists what a fork needs of others.
func (u *keeper) takePast(ctx context.Context, s *stock) error {
	if u.tip.From == nil || u.tip.Deleted {
		return nil
	}
	parent, err := u.link.parent(ctx, u.tip)
	if err != nil {
		return err
	}
	s.from = u.tip.From
	s.past, err = u.link.segments(ctx, parent, segment.Transcript, max(parent.Transcript.Buckets, s.from.Buckets), 0)
	return err
}

// furtherPartitions returns those that hold what has no room in the first.
func (u *keeper) furtherPartitions(s *stock) (pks []string) {
	most := u.tip.Transcript.Buckets
	for _, o := range s.former {
		most = max(most, o.Buckets)
	}
	for _, b := range s.branches {
		most = max(most, b.Transcript.Buckets)
	}
	add := func(st segment.Stream, buckets int) {
		for b := 1; b < buckets; b++ {
			pks = append(pks, segment.StreamPK(u.sid, st, b))
		}
	}
	add(segment.Transcript, most)
	for _, st := range slices.Sorted(maps.Keys(u.tip.Logs)) {
		add(st, u.tip.Logs[st].Buckets)
	}
	return pks
}

func (u *keeper) takePartition(ctx context.Context, pk string, s *stock) error {
	for row, err := range u.link.query(ctx, pk, listStock) {
		if err != nil {
			return fmt.Errorf("list documents: %w", err)
		}
		d := &stored{}
		if json.Unmarshal(row, d) != nil || !strings.HasPrefix(d.ID, u.sid+"-") || d.PK != pk {
			continue
		}
		if at := time.Unix(d.TS, 0).UTC(); at.After(s.now) {
			s.now = at // a server that tells no time is at least so far
		}
		s.docs = append(s.docs, d)
		if d.Type != segment.TypeSegment {
			continue
		}
		info, err := segment.DecodeInfo(row)
		switch {
		case errors.Is(err, segment.ErrNewer):
			return fmt.Errorf("list documents: %w", err)
		case err == nil:
			d.info = &info
			s.written[d.ID] = time.Unix(d.TS, 0).UTC()
			s.segments[info.Stream] = append(s.segments[info.Stream], info)
		}
	}
	return nil
}

func (u *keeper) takeBranches(ctx context.Context, s *stock) error {
	for row, err := range u.link.query(ctx, u.pk, listBranches) {
		if err != nil {
			return fmt.Errorf("list branches: %w", err)
		}
		b, err := tip.Decode(row, u.sid)
		if errors.Is(err, segment.ErrNewer) {
			return fmt.Errorf("list branches: %w", err)
		}
		if err == nil {
			s.branches = append(s.branches, b)
		}
	}
	return nil
}
