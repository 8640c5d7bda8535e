package syncer

import (
	"context"

	"github.com/amplifier-go/sessionstorage/internal/remote"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// common returns how many records this device's transcript shares with the
// cloud's.
func (s *sides) common(ctx context.Context) (int64, error) {
	infos, err := s.cloud.listed(ctx)
	if err != nil {
		return 0, err
	}
	return s.local.shared(ctx, infos, s.cloud.head.Transcript.Point())
}

func (l *local) shared(ctx context.Context, infos []segment.Info, with segment.Point) (int64, error) {
	spans, err := segment.Tile(segment.Transcript, infos, segment.Origin(segment.Transcript), with)
	if err != nil {
		return 0, remote.Damaged(err)
	}
	if len(spans) == 0 {
		return 0, nil
	}
	return segment.Common(spans, l.main.end().N, func(n int64) (segment.Hash, error) {
		m, ok, err := l.main.mark(ctx, n)
		if err == nil && !ok {
			err = errMoved
		}
		return m.Hash, err
	})
}
