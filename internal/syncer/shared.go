package syncer

import (
	"context"

	"github.com/amplifier-go/sessionstorage/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/track"
)

// common returns how many records this device's transcript shares with the
// cloud's.
func (s *work) common(ctx context.Context) (int64, error) {
	infos, err := s.cloud.listed(ctx)
	if err != nil {
		return 0, err
	}
	return shared(ctx, s.local.main, infos, s.cloud.head.Transcript.Point())
}

// shared returns how many first lines h has in common with a history of its stream in the
// cloud, which ends at with.
func shared(ctx context.Context, h *track.Chain, infos []segment.Info, with segment.Point) (int64, error) {
	spans, err := segment.Tile(h.Stream, infos, segment.Origin(h.Stream), with)
	if err != nil {
		return 0, remoteread.Damaged(err)
	}
	return h.Shared(ctx, spans)
}
