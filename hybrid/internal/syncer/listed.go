package syncer

import (
	"context"
	"errors"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncplan"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
)

// has reports whether p is on the history that ends at to.
func (c *cloud) has(ctx context.Context, p, to segment.Point) (bool, error) {
	infos, err := c.listed(ctx)
	if err != nil {
		return false, err
	}
	_, err = segment.Tile(segment.Transcript, infos, p, to)
	if errors.Is(err, segment.ErrOffside) {
		return false, nil
	}
	return err == nil, remoteread.Damaged(err)
}

// branchHas reports whether a point is on a branch that ends at tip. One that is damaged
// has none for sure.
func (c *cloud) branchHas(ctx context.Context, tip segment.Point) syncplan.Has {
	return func(p segment.Point) (bool, error) {
		has, err := c.has(ctx, p, tip)
		if errors.Is(err, remoteread.ErrDamaged) {
			return false, nil
		}
		return has, err
	}
}

// planBranches returns the branches as package syncplan takes them.
func (c *cloud) planBranches(ctx context.Context) (all []syncplan.Branch, err error) {
	known, err := c.histories(ctx)
	for _, h := range known {
		if h.Branch() {
			all = append(all, syncplan.Branch{ID: h.ID, Tip: h.Extent.Point(), Has: c.branchHas(ctx, h.Extent.Point())})
		}
	}
	return all, err
}

// replaced returns what reports whether a point was on a former head.
func (c *cloud) replaced(ctx context.Context) syncplan.Has {
	if len(c.head.Histories.Former) == 0 {
		return nil
	}
	return func(p segment.Point) (bool, error) {
		former, err := c.histories(ctx)
		if err != nil {
			return false, err
		}
		for _, h := range former {
			if h.Branch() || h.Stream != segment.Transcript || h.Extent.N < p.N {
				continue
			}
			if h.Extent.Point() == p {
				return true, nil
			}
			if on, err := c.has(ctx, p, h.Extent.Point()); on || err != nil && !errors.Is(err, remoteread.ErrDamaged) {
				return on, err
			}
		}
		return false, nil
	}
}

// histories returns the former heads and branches; see [remoteread.Reader.Histories]. It lists
// them once for a head.
func (c *cloud) histories(ctx context.Context) (all []head.History, err error) {
	if c.former == nil || c.formerOf != c.head {
		if c.former, err = c.link.Histories(ctx, c.head, c.version); err != nil {
			all, c.former = c.former, nil
			return all, err
		}
		c.formerOf = c.head
	}
	return c.former, nil
}

// listed returns all segments of the transcript, on whatever history.
func (c *cloud) listed(ctx context.Context) ([]segment.Info, error) {
	if c.infos != nil {
		return c.infos, nil
	}
	infos, err := c.link.Segments(ctx, c.head, segment.Transcript, 0)
	if err == nil {
		c.infos = append([]segment.Info{}, infos...)
	}
	return infos, err
}

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
