package eventslog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// Cut tells what a slice of a log has, and what was left out as damaged.
type Cut struct {
	Events  int // that were written
	Skipped int // lines, not blank, that are no events, and events whose time cannot be read
}

// Cut is [Log.SliceTo] that also counts what it leaves out.
func (l *Log) Cut(ctx context.Context, dst io.Writer, until time.Time, newSessionID, parentID string) (Cut, error) {
	f, err := l.open()
	if err != nil {
		return Cut{}, fmt.Errorf("slice events: %w", err)
	}
	s := slicing{log: l, src: f, cut: until}
	if newSessionID != "" {
		s.id = pyjson.AppendQuoted(nil, newSessionID, pyjson.Style{})
		if parentID != "" {
			s.parent = pyjson.AppendQuoted(nil, parentID, pyjson.Style{})
		}
	}
	n, err := s.run(ctx, f, dst)
	if err = errors.Join(err, f.Close()); err != nil {
		return Cut{}, fmt.Errorf("slice events: %w", err)
	}
	return Cut{Events: n, Skipped: int(s.skipped.Load())}, nil
}
