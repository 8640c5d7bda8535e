package resync

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/gc"
	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// write writes a session anew, if that is needed.
func (r *Resyncer) write(ctx context.Context, m *gc.Member) error {
	if m.Head.Deleted {
		return nil
	}
	s := &session{Resyncer: r, m: m, sid: m.SID, was: m.Head, next: m.Head.Clone(), out: &outbox{Resyncer: r, sid: m.SID}}
	if err := s.readLists(ctx); err != nil {
		return err
	}
	lines := !s.linesAreNew()
	if lines {
		if err := s.writeLines(ctx); err != nil {
			return err
		}
	}
	files, err := s.files(ctx, s.next)
	if err != nil {
		return err
	}
	if s.changed = s.changed || files; !lines && !files {
		return nil
	}
	return s.commit(ctx)
}

// readLists reads what leads to lines beside the head.
func (s *session) readLists(ctx context.Context) (err error) {
	lists := s.Reader.Lists(s.sid)
	if s.former, err = lists.Former(ctx, s.was); err != nil {
		return fmt.Errorf("list former heads: %w", err)
	}
	if s.listed, err = lists.Branches(ctx, s.was); err != nil {
		return fmt.Errorf("list branches: %w", err)
	}
	for row, err := range s.Reader.Query(ctx, cosmos.Branches(segment.SessionPK(s.sid))) {
		if err != nil {
			return fmt.Errorf("list branches: %w", err)
		}
		b, err := head.Decode(row, s.sid)
		if errors.Is(err, segment.ErrFormat) {
			return fmt.Errorf("list branches: %w", err)
		}
		if err == nil {
			s.branches = append(s.branches, b)
		}
	}
	return nil
}

// linesAreNew reports whether all lines went through today's rules.
func (s *session) linesAreNew() bool {
	version := s.Rules.Version()
	old := slices.ContainsFunc(s.former, func(o head.Old) bool { return !formerIsNew(o, version) }) ||
		slices.ContainsFunc(s.branches, func(b *head.Head) bool { return !b.Transcript.Through(version) })
	return !old && isNew(s.was, version)
}

// writeLines writes all lines anew.
func (s *session) writeLines(ctx context.Context) error {
	version := s.Rules.Version()
	if err := s.writeTranscript(ctx); err != nil {
		return err
	}
	for _, st := range slices.Sorted(maps.Keys(s.was.Logs)) {
		if err := s.writeLog(ctx, st); err != nil {
			return err
		}
	}
	s.next.Redaction = version
	return s.writeBranches(ctx)
}
