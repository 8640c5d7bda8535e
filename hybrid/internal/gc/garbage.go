package gc

import (
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

// garbage returns the documents that are not live and older than grace: segments
// first, then what they name. It counts those that are too young.
func (i *inventory) garbage(l *liveSet, grace time.Duration, sum *Result) []*document {
	segments, chunks := i.deadSegments(l, grace, sum)
	i.addFiles(chunks)
	var rest []*document
	for _, d := range i.docs {
		dead := false
		switch d.Type {
		case segment.TypeChunk:
			dead = !chunks[d.Name]
		case head.TypeHistory: // which no head came to name, or none does any more
			dead = !i.head.Histories.Has(d.Name)
		case head.TypeGone: // which no head came to lead to
			dead = !slices.Contains(i.head.Gone, d.Name)
		}
		if dead && i.old(d, grace, time.Time{}, sum) {
			rest = append(rest, d)
		}
	}
	return append(segments, rest...)
}

// deadSegments returns the segments that may go, and the chunks that those which
// stay need.
func (i *inventory) deadSegments(l *liveSet, grace time.Duration, sum *Result) (dead []*document, chunks map[string]bool) {
	chunks = map[string]bool{}
	for _, d := range i.docs {
		if d.Type != segment.TypeSegment {
			continue
		}
		if !l.has(d) && i.old(d, grace, l.coveredSince(d, i.written), sum) {
			dead = append(dead, d)
			continue
		}
		for _, id := range d.chunks(i.sid) {
			chunks[id] = true
		}
	}
	return dead, chunks
}

// addFiles adds the chunks of the head's small files.
func (i *inventory) addFiles(chunks map[string]bool) {
	for _, f := range i.head.Files {
		_, ids := f.Documents(i.sid)
		for _, id := range ids {
			chunks[id] = true
		}
	}
}

// headDocument returns the document of the head; nil where the list lacks it.
func (i *inventory) headDocument() *document {
	for _, d := range i.docs {
		if d.Name == segment.HeadID(i.sid) {
			return d
		}
	}
	return nil
}

// remains returns all documents but the head that are older than grace.
func (i *inventory) remains(grace time.Duration, sum *Result) (garbage []*document) {
	for _, d := range i.docs {
		if d.Name != segment.HeadID(i.sid) && i.old(d, grace, time.Time{}, sum) {
			garbage = append(garbage, d)
		}
	}
	return garbage
}

// old reports whether a document is older than grace, and what stands for it
// since a time too. It counts it when it is not.
func (i *inventory) old(d *document, grace time.Duration, since time.Time, sum *Result) bool {
	at := d.Time
	if since.After(at) {
		at = since
	}
	if i.now.Sub(at) > grace {
		return true
	}
	sum.Waiting++
	sum.wait(at.Add(grace + time.Second))
	return false
}
