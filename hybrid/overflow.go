package hybrid

import (
	"context"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/tip"
)

// spill stores the entries of one of the tip's lists that have no room there,
// in the document that ids leads to then.
func (v *visit) spill(ctx context.Context, ids *[]string, old []tip.Old, branches []tip.Branch, box *outbox) error {
	if len(old)+len(branches) == 0 {
		return nil
	}
	last, rest := "", []string(nil)
	if len(*ids) > 0 {
		last, rest = (*ids)[0], (*ids)[1:]
	}
	m, err := v.page(ctx, last)
	if err != nil && !errors.Is(err, ErrDamaged) {
		return err
	}
	m = m.With(v.sid, last, old, branches)
	doc, err := m.Encode()
	if err != nil {
		return err
	}
	m.ID = doc.ID
	v.keepPage(m)
	*ids = append([]string{doc.ID}, rest...)
	return box.add(ctx, doc)
}

// page reads one document with entries that had no room; nil for the id "".
func (v *visit) page(ctx context.Context, id string) (*tip.More, error) {
	if m, ok := v.pages[id]; ok || id == "" {
		return m, nil
	}
	doc, err := v.link.read(ctx, v.pk, id, "")
	if err == nil && doc == nil {
		err = fmt.Errorf("%w: %w: %s", ErrDamaged, segment.ErrMissing, id)
	}
	if err != nil {
		return nil, err
	}
	m, err := tip.DecodeMore(doc.body, v.sid, id)
	if err != nil {
		return nil, damaged(err)
	}
	v.keepPage(m)
	return m, nil
}

func (v *visit) keepPage(m *tip.More) {
	if v.pages == nil {
		v.pages = map[string]*tip.More{}
	}
	v.pages[m.ID] = m
}

// more returns the documents that ids lead to, each list from its latest
// entries back. With an error it returns what could be read.
func (v *visit) more(ctx context.Context, ids []string) (all []*tip.More, err error) {
	seen := map[string]bool{"": true}
	for _, id := range ids {
		for !seen[id] {
			seen[id] = true
			m, failed := v.page(ctx, id)
			if failed != nil {
				err = errors.Join(err, failed)
				break
			}
			all = append(all, m)
			id = m.Next
		}
	}
	return all, err
}

// formerTips returns the former tips that can be restored, also those that the
// tip has no room for. With an error it returns what could be read.
func (v *visit) formerTips(ctx context.Context) ([]tip.Old, error) {
	old := v.tip.Old
	more, err := v.more(ctx, v.tip.OldMore)
	for _, m := range more {
		old = append(old[:len(old):len(old)], m.Old...)
	}
	return old, err
}

// listedBranches returns the branches that the tip lists, also those that it
// has no room for. With an error it returns what could be read.
func (v *visit) listedBranches(ctx context.Context) ([]tip.Branch, error) {
	all := v.tip.Branches
	more, err := v.more(ctx, v.tip.BranchMore)
	for _, m := range more {
		all = append(all[:len(all):len(all)], m.Branches...)
	}
	return all, err
}
