package syncer

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/jitter"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
)

// wait leaves the files as they are, for the reason why.
func (v *work) wait(why error) error {
	v.out.State, v.out.Why = Behind, why
	return nil
}

// download is a transcript that was fetched: the lines behind a place in the
// file here, checked, in a file of the bookkeeping.
type download struct {
	from  segment.Mark
	file  string
	to    segment.Point
	known *track.Followed // the forms of all lines, once it is here
}

// fetchMain fetches what the transcript here lacks. Nothing is locked
// meanwhile.
func (v *work) fetchMain(ctx context.Context) (*download, error) {
	to := v.cloud.head.Transcript.Point()
	a := &download{file: replica.DownloadFile(v.sid, v.Random.Name(4)), to: to}
	err := patient(ctx, func() error {
		from, infos, err := v.meeting(ctx)
		if err != nil {
			return err
		}
		a.from = from
		own, err := v.local.ownLines(ctx, from)
		if err != nil {
			return track.Gone(err)
		}
		return v.States.FillLines(a.file, v.local.arriving(a, own, v.cloud.link.Lines(ctx, segment.Transcript, infos, from.Point(), to, nil)))
	})
	if err != nil {
		err = errors.Join(err, v.States.Remove(a.file))
	}
	return a, err
}

// arriving passes on the lines that a download fetches. Those that left this device come
// as they are here, see [ownLines]. All others lie here in the form in which they were
// sent, whatever the rules of today would make of them.
func (l *local) arriving(a *download, own *ownLines, lines iter.Seq2[[]byte, error]) iter.Seq2[[]byte, error] {
	h := &track.Chain{Source: l.main.Source, Followed: track.Followed{Forms: track.Before(l.main.Forms, a.from.N), Mixed: l.main.Mixed}}
	return func(yield func([]byte, error) bool) {
		n := a.from.N
		for sent, err := range lines {
			line := sent
			if err == nil {
				line = own.take(sent)
				h.Add(n, line, func(int64, []byte) ([]byte, bool) { return sent, true })
				n++
			}
			if !yield(line, err) {
				return
			}
		}
		a.known = h.FormsOf()
	}
}

// meeting returns the place from which the lines here and there differ, and
// the segments behind it.
func (s *work) meeting(ctx context.Context) (segment.Mark, []segment.Info, error) {
	to, end := s.cloud.head.Transcript.Point(), s.local.main.End()
	if to.N >= end.N && s.cloud.infos == nil {
		infos, err := s.cloud.link.Segments(ctx, s.cloud.head, segment.Transcript, end.N)
		if err != nil {
			return segment.Mark{}, nil, err
		}
		_, err = segment.Tile(segment.Transcript, infos, end.Point(), to)
		if err == nil || errors.Is(err, segment.ErrGap) && end.N == 0 {
			return end, infos, remoteread.Damaged(err)
		}
	}
	s.cloud.infos = nil
	infos, err := s.cloud.listed(ctx)
	if err != nil {
		return segment.Mark{}, nil, err
	}
	n, err := shared(ctx, s.local.main, infos, to)
	if err != nil {
		return segment.Mark{}, nil, err
	}
	from, ok, err := s.local.main.Mark(ctx, n)
	if err == nil && !ok {
		err = track.ErrMoved
	}
	return from, infos, err
}

// gapTries is how often a missing segment is looked for again: a replica that
// lags behind may not have it yet.
const (
	gapTries = 3
	gapWait  = 300 * time.Millisecond
)

// patient runs do again while it meets a gap.
func patient(ctx context.Context, do func() error) error {
	for try := 1; ; try++ {
		err := do()
		if !errors.Is(err, segment.ErrGap) || try > gapTries {
			return err
		}
		if err := jitter.Pause(ctx, gapWait*time.Duration(try), nil); err != nil {
			return err
		}
	}
}
