package resync

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/gc"
	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// Forecast tells what Resync would do, and what that would cost. It changes nothing, and
// reads what Resync would read. Errors are as of [Resyncer.Resync].
func (r *Resyncer) Forecast(ctx context.Context, sessions []string) (Cost, error) {
	sizes := &recorder{Conn: r.Reader.Conn, sizes: map[string]int{}}
	r.Reader.Conn, r.cost, r.sizes = sizes, &Cost{}, sizes
	err := r.forecast(ctx, sessions)
	used := sizes.Usage()
	r.cost.Requests += used.Requests
	r.cost.Units += used.Units
	return *r.cost, err
}

func (r *Resyncer) forecast(ctx context.Context, sessions []string) error {
	all, err := r.begin(ctx, sessions)
	if err != nil {
		return err
	}
	for _, m := range all {
		if err := r.forecastOne(ctx, m); err != nil {
			return m.Named(err)
		}
	}
	return nil
}

func (r *Resyncer) forecastOne(ctx context.Context, m *gc.Member) error {
	former := m.Head
	if err := r.write(ctx, m); err != nil {
		return err
	}
	if err := r.enter(ctx, m); err != nil || former.Deleted {
		return err
	}
	if err := gc.ReadForSweep(ctx, r.swept(m)); err != nil || m.Head == former {
		return err
	}
	return r.countRemoved(ctx, m.Head)
}

// countRemoved counts the documents of a session that a sweep would remove.
func (r *Resyncer) countRemoved(ctx context.Context, next *head.Head) error {
	for _, f := range next.Files {
		_, ids := f.Documents(next.SID)
		for _, id := range ids {
			r.kept[id] = true
		}
	}
	doc, err := next.Encode()
	if err != nil {
		return err
	}
	n, err := r.countDocuments(ctx, next.SID)
	if err != nil {
		return err
	}
	for ; n > 0; n -= cosmos.MaxOps - 1 {
		r.cost.Requests++
		r.cost.store(doc.Body, true)
	}
	return nil
}

// row is a document as an inventory lists it.
type row struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Refs []struct {
		Chunks []string `json:"chunks"`
	} `json:"refs"`
}

// countDocuments counts the documents of a session that are not kept.
func (r *Resyncer) countDocuments(ctx context.Context, sid string) (n int, err error) {
	pk := segment.SessionPK(sid)
	var rows []row
	for text, err := range r.Reader.Query(ctx, cosmos.Inventory(pk)) {
		if err != nil {
			return 0, fmt.Errorf("list documents: %w", err)
		}
		d := row{}
		if json.Unmarshal(text, &d) != nil || !strings.HasPrefix(d.ID, sid+"-") {
			continue
		}
		rows = append(rows, d)
		for _, ref := range d.Refs {
			for _, name := range ref.Chunks {
				if id := segment.ChunkID(sid, name); r.kept[d.ID] {
					r.kept[id] = true
				}
			}
		}
	}
	for _, d := range rows {
		switch d.Type {
		case segment.TypeSegment, segment.TypeChunk, head.TypeBranch, head.TypeMore:
			if !r.kept[d.ID] {
				n++
				if err := r.countRemoval(ctx, pk, d.ID); err != nil {
					return n, err
				}
			}
		}
	}
	return n, nil
}

// countRemoval counts a document that is to be removed. What that costs depends on its
// size. One that was not read is read for that, which is not counted: Resync reads it not.
func (r *Resyncer) countRemoval(ctx context.Context, pk, id string) error {
	size, known := r.sizes.of(id)
	if !known {
		if _, err := r.Reader.Get(ctx, pk, id, ""); err != nil {
			return err
		}
		size, _ = r.sizes.of(id)
		r.cost.Requests--
		r.cost.Units -= cosmos.ReadUnits(size)
	}
	r.cost.Removed++
	r.cost.Units += cosmos.WriteUnits(size, false)
	return nil
}
