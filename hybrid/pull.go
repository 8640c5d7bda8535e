package hybrid

import (
	"context"
	"errors"
	"io"

	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// arrival is a transcript that was fetched: the lines behind a place in the
// file here, checked, in a file of the bookkeeping.
type arrival struct {
	from segment.Mark
	file string
	to   segment.Point
}

// pullMain makes the transcript that of the tip.
func (v *visit) pullMain(ctx context.Context) error {
	a, err := v.fetchMain(ctx)
	if err != nil {
		return err
	}
	if v.live() {
		v.out.state = Behind
		return v.states.remove(a.file)
	}
	err = errors.Join(v.land(ctx, a), v.states.remove(a.file))
	if err == nil && v.out.state != Behind {
		v.out.state, v.out.pulled = Pulled, true
	}
	return err
}

// fetchMain fetches what the transcript here lacks. Nothing is locked
// meanwhile.
func (v *visit) fetchMain(ctx context.Context) (*arrival, error) {
	to := v.tip.Transcript.Point()
	a := &arrival{file: v.sid + arriving + v.chance.name(4), to: to} // another process may be fetching too
	err := patient(ctx, func() error {
		from, infos, err := v.meeting(ctx)
		if err != nil {
			return err
		}
		a.from = from
		return v.states.fill(a.file, func(w io.Writer) error {
			return writeLines(w, v.link.lines(ctx, segment.Transcript, infos, from.Point(), to, nil))
		})
	})
	if err != nil {
		err = errors.Join(err, v.states.remove(a.file))
	}
	return a, err
}

// arriving is part of the names of files with lines that are being fetched.
const arriving = ".arriving-"

// meeting returns the place from which the lines here and there differ, and
// the segments behind it.
func (v *visit) meeting(ctx context.Context) (segment.Mark, []segment.Info, error) {
	to, end := v.tip.Transcript.Point(), v.main.end()
	if to.N >= end.N && v.infos == nil {
		infos, err := v.link.segments(ctx, v.tip, segment.Transcript, v.tip.Transcript.Buckets, end.N)
		if err != nil {
			return segment.Mark{}, nil, err
		}
		_, err = segment.Tile(segment.Transcript, infos, end.Point(), to)
		if err == nil || errors.Is(err, segment.ErrGap) && end.N == 0 {
			return end, infos, damaged(err)
		}
	}
	v.infos = nil
	infos, err := v.listed(ctx)
	if err != nil {
		return segment.Mark{}, nil, err
	}
	n, err := v.shared(ctx, infos, to)
	if err != nil {
		return segment.Mark{}, nil, err
	}
	from, ok, err := v.main.mark(ctx, n)
	if err == nil && !ok {
		err = errMoved
	}
	return from, infos, err
}
