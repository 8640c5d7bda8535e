package resync

import (
	"context"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/remote"
)

// writeBranches stores the documents of branches anew, with their small files.
func (s *session) writeBranches(ctx context.Context) error {
	for _, b := range s.branches {
		if _, err := s.files(ctx, b); err != nil {
			return err
		}
		b.Redaction, b.Anew = s.Rules.Version(), head.Anew{}
		doc, err := b.EncodeBranch()
		if err != nil {
			return err
		}
		if err := s.out.add(ctx, doc); err != nil {
			return err
		}
	}
	return s.fillLists(ctx)
}

// fillLists makes the next head lead to former heads and branches.
func (s *session) fillLists(ctx context.Context) error {
	lists := s.Reader.Lists(s.sid)
	slices.SortStableFunc(s.former, func(a, b head.Old) int { return a.At.Compare(b.At) })
	slices.SortStableFunc(s.listed, func(a, b head.Branch) int { return a.At.Compare(b.At) })
	var old []head.Old
	for _, o := range s.former {
		old = append(old, s.next.Retire(o)...)
	}
	var more []head.Branch
	for _, b := range s.listed {
		more = append(more, s.next.Branch(b, nil)...)
	}
	for part := range slices.Chunk(old, head.MaxMore) {
		if err := s.spill(ctx, lists, &s.next.OldMore, remote.Change{Old: part}); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(more, head.MaxMore) {
		if err := s.spill(ctx, lists, &s.next.BranchMore, remote.Change{Branches: part}); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) spill(ctx context.Context, lists *remote.Lists, ids *[]string, c remote.Change) error {
	docs, err := lists.Apply(ctx, ids, c)
	if err != nil {
		return err
	}
	for _, doc := range docs {
		if err := s.out.add(ctx, doc); err != nil {
			return err
		}
	}
	return nil
}
