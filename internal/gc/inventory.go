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
	branches []*head.Head                      // the documents of branches
	former   []head.Old                        // former heads that can be restored
	listed   []head.Branch                     // branches that the head names
	lists    map[string]bool                   // ids of the documents with former heads and branches
	now      time.Time                         // by the service's clock
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

// add adds a segment that was just stored.
func (i *inventory) add(in segment.Info, at time.Time) {
	i.segments[in.Stream] = append(i.segments[in.Stream], in)
	i.written[in.ID] = at
}

// within reports whether a point lies on one of some histories, before their ends.
func (i *inventory) within(p segment.Point, histories []segment.Point) bool {
	for _, h := range histories {
		if _, err := segment.Tile(segment.Transcript, i.segments[segment.Transcript], p, h); err == nil && p != h {
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
