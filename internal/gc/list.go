package gc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// list takes the inventory of a session, which may have no head. It passes over what
// other tools put there.
func (p *pruner) list(ctx context.Context) (*inventory, error) {
	i := newInventory(p.s.SID, p.head, p.histories)
	if err := p.listDocuments(ctx, i); err != nil {
		return nil, err
	}
	// A list that has another version of the head may be older than what it condemned.
	if t := i.headDocument(); p.head != nil && (t == nil || t.ETag != p.s.Head.ETag) {
		return nil, errLagging
	}
	// A service that tells no time is at least as far as what it wrote last.
	i.now = p.s.Reader.Time()
	for _, d := range i.docs {
		if at := d.written(); at.After(i.now) {
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
	for row, err := range p.s.Reader.Query(ctx, cosmos.Inventory(p.pk())) {
		if err != nil {
			return fmt.Errorf("list documents: %w", err)
		}
		d := &document{}
		if json.Unmarshal(row, d) != nil || !strings.HasPrefix(d.ID, i.sid+"-") || d.PK != p.pk() || condemned[d.ID] {
			continue
		}
		if d.V != segment.Version {
			if err := segment.Probe(row, d.Type); errors.Is(err, segment.ErrFormat) {
				return fmt.Errorf("list documents: %w", err)
			}
		}
		i.docs = append(i.docs, d)
		if d.Type != segment.TypeSegment {
			continue
		}
		if info, err := segment.DecodeInfo(row); err == nil {
			d.info = &info
			i.add(info, d.written())
		}
	}
	return nil
}
