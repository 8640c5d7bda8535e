package hybrid

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/tip"
)

const listSegments = `SELECT c.id, c.pk, c.type, c.v, c.st, c.seq, c.n, c["end"], c.prev, c.hash, c.off, c.bytes, c["at"], c.base ` +
	`FROM c WHERE c.pk = @pk AND c.type = 'seg' AND c.st = @st AND c["end"] > @from ORDER BY c["end"]`

// ancestors is how many forks of forks are followed; each loop in a damaged
// lineage ends there.
const ancestors = 64

// segments lists what the cloud has of a stream behind record from: segments of
// the session, and of those that it was forked from.
func (l *link) segments(ctx context.Context, t *tip.Tip, st segment.Stream, buckets int, from int64) (infos []segment.Info, err error) {
	for range ancestors {
		for b := range max(1, buckets) {
			if infos, err = l.listBucket(ctx, infos, segment.StreamPK(t.SID, st, b), st, from); err != nil {
				return nil, err
			}
		}
		if t.From == nil || st != segment.Transcript || t.From.N <= from {
			return infos, nil
		}
		parent, err := l.parent(ctx, t)
		if err != nil {
			return nil, err
		}
		t, buckets = parent, parent.Transcript.Buckets
	}
	return infos, nil
}

// parent returns the tip of the session that t was forked from; of one that was
// deleted, as much as is needed to look for segments.
func (l *link) parent(ctx context.Context, t *tip.Tip) (*tip.Tip, error) {
	sid := t.From.SID
	doc, err := l.read(ctx, segment.SessionPK(sid), segment.HeadID(sid), "")
	if err != nil {
		return nil, err
	}
	if doc == nil {
		return &tip.Tip{SID: sid}, nil
	}
	return tip.Decode(doc.body, sid)
}

func (l *link) listBucket(ctx context.Context, infos []segment.Info, pk string, st segment.Stream, from int64) ([]segment.Info, error) {
	for row, err := range l.query(ctx, pk, listSegments,
		azcosmos.QueryParameter{Name: "@st", Value: string(st)}, azcosmos.QueryParameter{Name: "@from", Value: from}) {
		if err != nil {
			return nil, fmt.Errorf("list segments: %w", err)
		}
		info, err := segment.DecodeInfo(row)
		switch {
		case errors.Is(err, segment.ErrNewer):
			return nil, fmt.Errorf("list segments: %w", err)
		case err != nil: // of another tool, or damaged: others may hold its lines
			continue
		}
		if info.Stream == st && info.PK == pk {
			infos = append(infos, info)
		}
	}
	return infos, nil
}

// fetcher reads segments in the order in which they will be needed, some ahead.
type fetcher struct {
	ctx   context.Context
	link  *link
	order []segment.Info
	next  int // of order, not begun
	begun map[string]chan fetched
	work  sync.WaitGroup
}

type fetched struct {
	body []byte
	err  error
}

// readAhead is how many segments are read at once.
const readAhead = 4

// Segment implements [segment.Source].
func (f *fetcher) Segment(in segment.Info) ([]byte, error) {
	depth := atOnce(readAhead, f.link.alone)
	for ; f.next < len(f.order) && (f.order[f.next].ID == in.ID || len(f.begun) < depth); f.next++ {
		f.begin(f.order[f.next])
	}
	c, ok := f.begun[in.ID]
	if !ok {
		return f.document(f.ctx, in.PK, in.ID)
	}
	delete(f.begun, in.ID)
	got := <-c
	return got.body, got.err
}

func (f *fetcher) begin(in segment.Info) {
	c := make(chan fetched, 1)
	f.begun[in.ID] = c
	f.work.Go(func() {
		body, err := f.document(f.ctx, in.PK, in.ID)
		c <- fetched{body, err}
	})
}

// Chunks implements [segment.Source]. As of segments, some are read ahead.
func (f *fetcher) Chunks(pk string, ids []string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		ctx, cancel := context.WithCancel(f.ctx)
		var work sync.WaitGroup
		defer work.Wait()
		defer cancel()
		depth := atOnce(readAhead, f.link.alone)
		begun := make([]chan fetched, 0, len(ids))
		for i := range ids {
			for len(begun) < min(i+depth, len(ids)) {
				c, id := make(chan fetched, 1), ids[len(begun)]
				begun = append(begun, c)
				work.Go(func() {
					body, err := f.document(ctx, pk, id)
					c <- fetched{body, err}
				})
			}
			got := <-begun[i]
			begun[i] = nil
			if !yield(got.body, got.err) || got.err != nil {
				return
			}
		}
	}
}

func (f *fetcher) document(ctx context.Context, pk, id string) ([]byte, error) {
	doc, err := f.link.read(ctx, pk, id, "")
	if err != nil {
		return nil, err
	}
	if doc == nil {
		return nil, segment.ErrMissing
	}
	return doc.body, nil
}

// lines yields the verified lines of a stream between two points.
func (l *link) lines(ctx context.Context, st segment.Stream, infos []segment.Info, from, to segment.Point, large *segment.Large) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		f := &fetcher{ctx: ctx, link: l, begun: map[string]chan fetched{}}
		defer f.work.Wait()
		defer cancel()
		if spans, err := segment.Tile(st, infos, from, to); err == nil {
			for _, s := range spans {
				f.order = append(f.order, s.Info)
			}
		}
		for line, err := range segment.Lines(f, st, infos, from, to, large) {
			if err != nil {
				yield(nil, damaged(err))
				return
			}
			if !yield(line, nil) {
				return
			}
		}
	}
}

// damaged gives damage in the cloud its sentinel.
func damaged(err error) error {
	if errors.Is(err, segment.ErrDamaged) || errors.Is(err, segment.ErrGap) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// gapTries is how often a missing segment is looked for again: a replica that
// lags behind may not have it yet.
const (
	gapTries = 3
	gapWait  = 300 * time.Millisecond
)

// patient runs do again while it meets a gap.
func patient(ctx context.Context, do func() error) error {
	for try := 1; ; try++ {
		err := do()
		if !errors.Is(err, segment.ErrGap) || try > gapTries {
			return err
		}
		if err := pause(ctx, gapWait*time.Duration(try), nil); err != nil {
			return err
		}
	}
}

// writeLines writes lines, each with its LF.
func writeLines(w io.Writer, lines iter.Seq2[[]byte, error]) error {
	out := bufio.NewWriterSize(w, 256<<10)
	for line, err := range lines {
		if err != nil {
			return err
		}
		_, _ = out.Write(line) // Flush tells of errors
		if err := out.WriteByte('\n'); err != nil {
			return err
		}
	}
	return out.Flush()
}
