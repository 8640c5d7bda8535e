package syncer

import (
	"context"
	"errors"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
)

// learnForms compares the lines here with those of the head, and keeps the forms of
// those that differ by redaction alone. It is for a state that was lost, or is older than
// the files.
//
// The rules of today tell: two lines of which they make the same are the same line. That
// holds for all rules that find no less than those by which a line was sent, whatever
// they put in its place. Where today's find less, the built-in markers tell.
func (s *work) learnForms(ctx context.Context) error {
	sent, err := s.compare(ctx, s.cloud.head.Transcript.Point())
	if err != nil {
		return err
	}
	s.formsKnown = true
	return s.local.adopt(ctx, sent)
}

// learnLog does that for a log, of which the cloud has as much as r.
func (s *work) learnLog(ctx context.Context, l *ownLog, r head.Extent) error {
	sent, err := l.Compare(ctx, s.cloud.link.LogLines(ctx, s.cloud.head, l.Stream, r))
	if err != nil {
		return err
	}
	return l.adopt(ctx, sent)
}

// compare follows the lines here, in the form in which they were sent, as long as they
// are those of a history of the cloud, which ends at to. It fetches as many lines of it.
func (s *work) compare(ctx context.Context, to segment.Point) (*track.Compared, error) {
	infos, err := s.cloud.listed(ctx)
	if err != nil {
		return nil, err
	}
	return s.local.main.Compare(ctx, s.cloud.link.Lines(ctx, segment.Transcript, infos, segment.Origin(segment.Transcript), to, nil))
}

// adopt takes the transcript to have left in other forms.
func (l *local) adopt(ctx context.Context, sent *track.Compared) error {
	main, err := l.main.In(ctx, sent)
	if err == nil {
		l.main, l.st.Main = main, &main.Followed
	}
	return err
}

// adopt takes the log to have left in other forms.
func (l *ownLog) adopt(ctx context.Context, sent *track.Compared) error {
	h, err := l.In(ctx, sent)
	if err == nil {
		l.Chain, l.own.File = h, &h.Followed
	}
	return err
}

// learnFormer is for a device that knows no base: it looks whether the lines here are
// those of a former head, or the beginning of one, which left in other forms than today's
// rules give them. By these forms they are known as what others replaced.
func (s *work) learnFormer(ctx context.Context) (found bool, err error) {
	former, err := s.cloud.histories(ctx)
	if err != nil {
		return false, err
	}
	for _, h := range former {
		if h.Branch() || h.Stream != segment.Transcript || h.Extent.N < s.local.main.End().N || s.cloud.sameForms(h.Extent) {
			continue
		}
		sent, err := s.compare(ctx, h.Extent.Point())
		if errors.Is(err, remoteread.ErrDamaged) {
			continue
		}
		if err != nil {
			return false, err
		}
		if sent.N == s.local.main.End().N {
			return true, s.local.adopt(ctx, sent)
		}
	}
	return false, nil
}

// sameForms reports whether today's rules give the lines here the forms in which those of
// a history were sent: it went through these rules, and the session was not sent anew before.
func (c *cloud) sameForms(e head.Extent) bool {
	if c.head.Anew.Rules != "" {
		return false
	}
	return e.Rules == nil && c.redaction() == "" || e.Through(c.redaction())
}
