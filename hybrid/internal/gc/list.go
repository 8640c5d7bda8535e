package gc

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// list takes the inventory of a session, which may have no head. It passes over what
// other tools put there.
func (p *pruner) list(ctx context.Context) (*inventory, error) {
	i := newInventory(p.s.SID, p.head, p.histories)
	if err := p.listDocuments(ctx, i); err != nil {
		return nil, err
	}
	// A list that has another version of the head may be older than what it condemned.
	if t := i.headDocument(); p.head != nil && (t == nil || t.Version != p.s.Head.Version) {
		return nil, errLagging
	}
	// A service that tells no time is at least as far as what it wrote last.
	i.now = p.s.Reader.Time()
	for _, d := range i.docs {
		if at := d.Time; at.After(i.now) {
			i.now = at
		}
	}
	return i, nil
}

func (p *pruner) listDocuments(ctx context.Context, i *inventory) error {
	condemned := map[string]bool{}
	if p.head != nil {
		var err error
		if condemned, err = p.s.Reader.Condemned(ctx, p.head); err != nil {
			return err
		}
	}
	for o, err := range p.s.Reader.List(ctx, p.pk(), remote.Query{Prefix: i.sid + "-"}) {
		if err != nil {
			return fmt.Errorf("list documents: %w", err)
		}
		if condemned[o.Name] {
			continue
		}
		d := &document{}
		if err := json.Unmarshal(o.Label, d); err != nil {
			continue // of another tool
		}
		if err := segment.CheckFormat(o.Label); err != nil {
			return fmt.Errorf("list documents: %w", err)
		}
		d.Object = o
		i.docs = append(i.docs, d)
		if d.Type != segment.TypeSegment {
			continue
		}
		if info, err := segment.DecodeInfo(p.pk(), o.Name, o.Label); err == nil {
			d.info = &info
			i.add(info, d.Time)
		}
	}
	return nil
}
