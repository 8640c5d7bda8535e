package gc

import (
	"time"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// inventory is what the cloud has of a session, listed after its head was read.
type inventory struct {
	sid      string
	head     *head.Head
	docs     []*document
	segments map[segment.Stream][]segment.Info // of the session itself
	written  map[string]time.Time              // when segments were, by id
	past     []segment.Info                    // of the transcripts that it was forked from
	branches []*head.Head                      // the documents of branches
	former   []head.Old                        // former heads that can be restored
	listed   []head.Branch                     // branches that the head names
	lists    map[string]bool                   // ids of the documents with former heads and branches
	forks    []fork
	now      time.Time // by the service's clock
}

func newInventory(sid string, t *head.Head) *inventory {
	return &inventory{
		sid: sid, head: t, segments: map[segment.Stream][]segment.Info{}, written: map[string]time.Time{}, lists: map[string]bool{},
	}
}

// document is a document of the session, without its lines.
type document struct {
	ID   string      `json:"id"`
	PK   string      `json:"pk"`
	Type string      `json:"type"`
	V    int         `json:"v"`
	ETag cosmos.ETag `json:"_etag"`
	TS   int64       `json:"_ts"` // when it was written, in seconds since 1970
	Refs []struct {
		Chunks []string `json:"chunks"`
	} `json:"refs"` // of a segment
	Child string        `json:"child"` // of a fork
	From  segment.Point `json:"from"`  // of a fork: what it needs of this session

	info *segment.Info // of a segment; nil when it cannot be read
}

func (d *document) written() time.Time { return time.Unix(d.TS, 0).UTC() }

// chunks yields the ids of the chunks that a segment needs.
func (d *document) chunks(sid string) (ids []string) {
	for _, ref := range d.Refs {
		for _, name := range ref.Chunks {
			ids = append(ids, segment.ChunkID(sid, name))
		}
	}
	return ids
}

// fork is a session that was forked from this one, or is about to be.
type fork struct {
	doc   *document
	head  *head.Head // nil: it has none, or none that can be read
	alive bool       // it has a head that leads here, or one that cannot be read
}

// add adds a segment that was just stored.
func (i *inventory) add(in segment.Info, at time.Time) {
	i.segments[in.Stream] = append(i.segments[in.Stream], in)
	i.written[in.ID] = at
}

// from returns where the session's own lines begin when it is a fork, nil when it
// is none.
func (i *inventory) from() *head.From {
	if i.head == nil || i.head.Deleted {
		return nil
	}
	return i.head.From
}

// spans returns the segments of the session itself that a history is read from.
// A fork reads the lines up to its beginning, of the transcript and of its logs,
// from the sessions that it was forked from, also where a segment of its own has
// some of them: what those keep is not for it to say.
func (i *inventory) spans(st segment.Stream, p segment.Point) ([]segment.Span, error) {
	spans, err := segment.Tile(st, i.segments[st], segment.Origin(st), p)
	if r := i.head.Logs[st]; err != nil && r.From != nil {
		return segment.Tile(st, i.segments[st], r.From.Point, p)
	}
	from := i.from()
	if err == nil || from == nil || st != segment.Transcript {
		return spans, err
	}
	starts := []segment.Point{from.Point}
	for _, in := range i.segments[st] {
		if in.From.N < from.N && in.From.N < p.N {
			starts = append(starts, in.From)
		}
	}
	for _, q := range starts {
		if spans, failed := segment.Tile(st, i.segments[st], q, p); failed == nil && i.inherited(q) {
			return spans, nil
		}
	}
	if i.inherited(p) {
		return nil, nil
	}
	return nil, err
}

// inherited reports whether a point is on the history that a fork began with.
func (i *inventory) inherited(p segment.Point) bool {
	from := i.from()
	if p.N == 0 || p == from.Point {
		return true
	}
	_, err := segment.Tile(segment.Transcript, i.past, p, from.Point)
	return err == nil
}

// within reports whether a point lies on one of some histories, before their ends.
func (i *inventory) within(p segment.Point, histories []segment.Point) bool {
	all := append(i.past[:len(i.past):len(i.past)], i.segments[segment.Transcript]...)
	for _, h := range histories {
		if _, err := segment.Tile(segment.Transcript, all, p, h); err == nil && p != h {
			return true
		}
	}
	return false
}

// deletions returns the changes that remove documents.
func deletions(docs []*document) (ops []cosmos.Op) {
	for _, d := range docs {
		ops = append(ops, cosmos.Delete(d.ID, d.ETag))
	}
	return ops
}
