package syncer

import (
	"context"
	"errors"

	"github.com/amplifier-go/sessionstorage/internal/remote"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/syncplan"
)

// remoteHas reports whether p is on the history that ends at to.
func (v *sessionSync) remoteHas(ctx context.Context, p, to segment.Point) (bool, error) {
	infos, err := v.listed(ctx)
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
func (v *sessionSync) branchHas(ctx context.Context, tip segment.Point) syncplan.Has {
	return func(p segment.Point) (bool, error) {
		has, err := v.remoteHas(ctx, p, tip)
		if errors.Is(err, remote.ErrDamaged) {
			return false, nil
		}
		return has, err
	}
}

// replaced reports whether a point was on a former head.
func (v *sessionSync) replaced(ctx context.Context) syncplan.Has {
	if len(v.head.Old) == 0 || v.head.Deleted {
		return nil
	}
	return func(p segment.Point) (bool, error) {
		former, err := v.lists.Former(ctx, v.head)
		if err != nil && !errors.Is(err, remote.ErrDamaged) {
			return false, err
		}
		for _, o := range former {
			if o.N < p.N {
				continue
			}
			if on, err := v.remoteHas(ctx, p, o.Point); on || err != nil && !errors.Is(err, remote.ErrDamaged) {
				return on, err
			}
		}
		return false, nil
	}
}

// listed returns all segments of the transcript, on whatever history.
func (v *sessionSync) listed(ctx context.Context) ([]segment.Info, error) {
	if v.infos != nil {
		return v.infos, nil
	}
	infos, err := v.link.Segments(ctx, v.head, segment.Transcript, v.head.Transcript.Buckets, 0)
	if err == nil {
		v.infos = append([]segment.Info{}, infos...)
	}
	return infos, err
}
