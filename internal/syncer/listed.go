package syncer

import (
	"context"
	"errors"

	"github.com/amplifier-go/sessionstorage/internal/remote"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/syncplan"
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
	return err == nil, remote.Damaged(err)
}

// branchHas reports whether a point is on a branch that ends at tip. One that is damaged
// has none for sure.
func (c *cloud) branchHas(ctx context.Context, tip segment.Point) syncplan.Has {
	return func(p segment.Point) (bool, error) {
		has, err := c.has(ctx, p, tip)
		if errors.Is(err, remote.ErrDamaged) {
			return false, nil
		}
		return has, err
	}
}

// replaced reports whether a point was on a former head.
func (c *cloud) replaced(ctx context.Context) syncplan.Has {
	if len(c.head.Old) == 0 || c.head.Deleted {
		return nil
	}
	return func(p segment.Point) (bool, error) {
		former, err := c.lists.Former(ctx, c.head)
		if err != nil && !errors.Is(err, remote.ErrDamaged) {
			return false, err
		}
		for _, o := range former {
			if o.N < p.N {
				continue
			}
			if on, err := c.has(ctx, p, o.Point); on || err != nil && !errors.Is(err, remote.ErrDamaged) {
				return on, err
			}
		}
		return false, nil
	}
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
