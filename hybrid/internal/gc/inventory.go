package gc

import (
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// inventory is what the cloud has of a session, listed after its head was read.
type inventory struct {
	sid      string
	head     *head.Head
	docs     []*document
	segments map[segment.Stream][]segment.Info // of the session itself
	written  map[string]time.Time              // when segments were, by id
	listed   []head.History                    // that the head names, without those that are over
	over     []head.History                    // that have been kept for their time
	now      time.Time                         // by the service's clock
}

func newInventory(sid string, t *head.Head, listed []head.History) *inventory {
	return &inventory{
		sid: sid, head: t, listed: listed, segments: map[segment.Stream][]segment.Info{}, written: map[string]time.Time{},
	}
}

// document is a document of the session, without its lines.
type document struct {
	remote.Object
	Type   string   `json:"type"`
	Chunks []string `json:"chunks"` // of a segment: the names of those that it needs

	info *segment.Info // of a segment; nil when it cannot be read
}

// chunks returns the ids of the chunks that a segment needs.
func (d *document) chunks(sid string) (ids []string) {
	for _, name := range d.Chunks {
		ids = append(ids, segment.ChunkID(sid, name))
	}
	return ids
}

// add adds a segment that was just stored.
func (i *inventory) add(in segment.Info, at time.Time) {
	i.segments[in.Stream] = append(i.segments[in.Stream], in)
	i.written[in.ID] = at
}

// idsOf returns the ids of documents.
func idsOf(docs []*document) (ids []string) {
	for _, d := range docs {
		ids = append(ids, d.Name)
	}
	return ids
}
