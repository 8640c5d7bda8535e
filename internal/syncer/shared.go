package syncer

import (
	"context"

	"github.com/amplifier-go/sessionstorage/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// common returns how many records this device's transcript shares with the
// cloud's.
func (s *sides) common(ctx context.Context) (int64, error) {
	infos, err := s.cloud.listed(ctx)
	if err != nil {
		return 0, err
	}
	return s.local.main.shared(ctx, infos, s.cloud.head.Transcript.Point())
}

// shared returns how many first lines h has in common with a history of its stream in the
// cloud, which ends at with.
func (h *history) shared(ctx context.Context, infos []segment.Info, with segment.Point) (int64, error) {
	spans, err := segment.Tile(h.stream, infos, segment.Origin(h.stream), with)
	if err != nil {
		return 0, remoteread.Damaged(err)
	}
	if len(spans) == 0 {
		return 0, nil
	}
	return segment.Common(spans, h.end().N, func(n int64) (segment.Hash, error) {
		m, ok, err := h.mark(ctx, n)
		if err == nil && !ok {
			err = errMoved
		}
		return m.Hash, err
	})
}
