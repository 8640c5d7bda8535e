package resync

import (
	"context"

	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// writeLog writes a log anew.
func (s *session) writeLog(ctx context.Context, st segment.Stream) error {
	e := s.was.Logs[st]
	infos, err := s.Reader.Segments(ctx, s.was, st, 0)
	if err != nil {
		return err
	}
	h := s.histories(st, infos)
	if err := h.all(ctx, []segment.Point{e.Point()}); err != nil {
		return err
	}
	s.next.Logs[st] = s.extent(h, e.Point())
	return nil
}
