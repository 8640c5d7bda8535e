package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// Lists reads the former heads and branches that a head leads to, also those that
// lie in documents of their own because the head has no room for them. It keeps
// these documents, which never change. It is for one goroutine.
type Lists struct {
	reader *Reader
	sid    string
	pages  map[string]*head.More // by id
}

// Lists returns the lists of a session.
func (r *Reader) Lists(sid string) *Lists {
	return &Lists{reader: r, sid: sid, pages: map[string]*head.More{}}
}

// A Change is what changes in the entries for which a head has no room.
type Change struct {
	Old      []head.Old    // that are added
	Branches []head.Branch // that are added
	Replaced []string      // ids of branches that are left out
}

// Apply makes a change. It returns the documents that hold the entries then, which
// are to be stored before the head, and makes ids lead to them. Entries of a document
// that cannot be read stay as they are.
func (l *Lists) Apply(ctx context.Context, ids *[]string, c Change) (docs []segment.Document, err error) {
	made := map[string]segment.Document{}
	next := slices.Clone(*ids)
	for i := range next {
		if next[i], err = l.without(ctx, next[i], c.Replaced, made); err != nil {
			return nil, err
		}
	}
	next = slices.DeleteFunc(next, func(id string) bool { return id == "" })
	if len(c.Old)+len(c.Branches) > 0 {
		if next, err = l.add(ctx, next, c, made); err != nil {
			return nil, err
		}
	}
	for _, id := range next {
		for doc, ok := made[id]; ok; doc, ok = made[id] {
			docs = append(docs, doc)
			id = l.pages[id].Next
		}
	}
	*ids = next
	return docs, nil
}

// add adds entries to the first document that ids lead to, or to one before it.
func (l *Lists) add(ctx context.Context, ids []string, c Change, made map[string]segment.Document) ([]string, error) {
	last, rest := "", []string(nil)
	if len(ids) > 0 {
		last, rest = ids[0], ids[1:]
	}
	m, err := l.page(ctx, last)
	if err != nil && !errors.Is(err, ErrDamaged) {
		return nil, err
	}
	id, err := l.encode(m.With(l.sid, last, c.Old, c.Branches), made)
	return append([]string{id}, rest...), err
}

// without leaves branches out of the document id and those that follow it. It returns
// the id of what stands for it then, "" when nothing is left.
func (l *Lists) without(ctx context.Context, id string, replaced []string, made map[string]segment.Document) (string, error) {
	if id == "" || len(replaced) == 0 {
		return id, nil
	}
	m, err := l.page(ctx, id)
	if errors.Is(err, ErrDamaged) {
		return id, nil
	}
	if err != nil {
		return "", err
	}
	next, err := l.without(ctx, m.Next, replaced, made)
	if err != nil {
		return "", err
	}
	kept := slices.DeleteFunc(slices.Clone(m.Branches), func(b head.Branch) bool { return slices.Contains(replaced, b.ID) })
	switch {
	case next == m.Next && len(kept) == len(m.Branches):
		return id, nil
	case len(kept)+len(m.Old) == 0:
		return next, nil
	}
	return l.encode(&head.More{SID: l.sid, Old: m.Old, Branches: kept, Next: next}, made)
}

// encode makes the document of m one of those that were made.
func (l *Lists) encode(m *head.More, made map[string]segment.Document) (id string, err error) {
	doc, err := m.Encode()
	if err != nil {
		return "", err
	}
	m.ID = doc.ID
	l.pages[m.ID], made[m.ID] = m, doc
	return m.ID, nil
}

// page reads one document with entries that had no room; nil for the id "".
func (l *Lists) page(ctx context.Context, id string) (*head.More, error) {
	if m, ok := l.pages[id]; ok || id == "" {
		return m, nil
	}
	doc, err := l.reader.Get(ctx, segment.SessionPK(l.sid), id, "")
	if err == nil && doc == nil {
		err = fmt.Errorf("%w: %w: %s", ErrDamaged, segment.ErrMissing, id)
	}
	if err != nil {
		return nil, err
	}
	m, err := head.DecodeMore(doc.Body, l.sid, id)
	if err != nil {
		return nil, Damaged(err)
	}
	l.pages[m.ID] = m
	return m, nil
}

// Pages returns the documents that ids lead to, each list from its latest entries
// back. With an error it returns what could be read.
func (l *Lists) Pages(ctx context.Context, ids []string) (all []*head.More, err error) {
	seen := map[string]bool{"": true}
	for _, id := range ids {
		for !seen[id] {
			seen[id] = true
			m, failed := l.page(ctx, id)
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

// Former returns the former heads of t that can be restored. With an error it
// returns what could be read.
func (l *Lists) Former(ctx context.Context, t *head.Head) ([]head.Old, error) {
	old := t.Old
	more, err := l.Pages(ctx, t.OldMore)
	for _, m := range more {
		old = append(old[:len(old):len(old)], m.Old...)
	}
	return old, err
}

// Branches returns the branches that t lists. With an error it returns what could
// be read.
func (l *Lists) Branches(ctx context.Context, t *head.Head) ([]head.Branch, error) {
	all := t.Branches
	more, err := l.Pages(ctx, t.BranchMore)
	for _, m := range more {
		all = append(all[:len(all):len(all)], m.Branches...)
	}
	return all, err
}
