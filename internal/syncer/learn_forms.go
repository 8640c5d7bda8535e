package syncer

import (
	"bytes"
	"context"
	"errors"
	"iter"

	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// learnForms compares the lines here with those of the head, and keeps the forms of
// those that differ by redaction alone. It is for a state that was lost, or is older than
// the files.
//
// The rules of today tell: two lines of which they make the same are the same line. That
// holds for all rules that find no less than those by which a line was sent, whatever
// they put in its place. Where today's find less, the built-in markers tell.
func (s *sides) learnForms(ctx context.Context) error {
	sent, err := s.compare(ctx, s.cloud.head.Transcript.Point())
	if err != nil {
		return err
	}
	s.formsKnown = true
	return s.local.adopt(ctx, sent)
}

// learnLog does that for a log, of which the cloud has as much as r.
func (s *sides) learnLog(ctx context.Context, l *ownLog, r head.Extent) error {
	sent, err := l.compare(ctx, s.cloud.link.LogLines(ctx, s.cloud.head, l.stream, r))
	if err != nil {
		return err
	}
	return l.adopt(ctx, sent)
}

// compare follows the lines here, in the form in which they were sent, as long as they
// are those of a history of the cloud, which ends at to. It fetches as many lines of it.
func (s *sides) compare(ctx context.Context, to segment.Point) (*compared, error) {
	infos, err := s.cloud.listed(ctx)
	if err != nil {
		return nil, err
	}
	return s.local.main.compare(ctx, s.cloud.link.Lines(ctx, segment.Transcript, infos, segment.Origin(segment.Transcript), to, nil))
}

// compare follows the lines of h as long as they are those that were sent.
func (h *history) compare(ctx context.Context, lines iter.Seq2[[]byte, error]) (*compared, error) {
	sent := &compared{history: &history{source: h.source}}
	next, stop := iter.Pull2(h.raw(ctx, h.start))
	defer stop()
	for theirs, err := range lines {
		if err != nil {
			return nil, err
		}
		line, err, ok := next()
		if err != nil {
			return nil, gone(err)
		}
		if !ok || !sent.alike(theirs, line) && !isFormOf(theirs, line) {
			break
		}
		sent.add(sent.n, line, func(int64, []byte) ([]byte, bool) { return theirs, true })
		sent.n++
	}
	return sent, nil
}

// todays returns the forms of the first lines of h, which were sent, that today's rules
// give to those in which they were.
func (h *history) todays(ctx context.Context, n int64) (*compared, error) {
	sent := &compared{history: &history{source: h.source}}
	for line, err := range h.raw(ctx, h.start) {
		if err != nil || sent.n >= n {
			return sent, gone(err)
		}
		sent.add(sent.n, line, func(int64, []byte) ([]byte, bool) { return h.today(h.leaving(sent.n, line)), true })
		sent.n++
	}
	return sent, nil
}

// in returns h again, with lines in other forms.
func (h *history) in(ctx context.Context, sent *compared) (*history, error) {
	next, err := h.scan(ctx, sent.formsOf(), false)
	if err == nil && !next.File.SameContent(h.File) {
		err = errMoved
	}
	return next, gone(err)
}

// compared is how many lines here are those of a history in the cloud, with their forms.
type compared struct {
	*history
	n int64
}

// adopt takes the transcript to have left in other forms.
func (l *local) adopt(ctx context.Context, sent *compared) error {
	main, err := l.main.in(ctx, sent)
	if err == nil {
		l.main, l.st.Main = main, &main.Followed
	}
	return err
}

// adopt takes the log to have left in other forms.
func (l *ownLog) adopt(ctx context.Context, sent *compared) error {
	h, err := l.in(ctx, sent)
	if err == nil {
		l.history, l.own.File = h, &h.Followed
	}
	return err
}

// learnFormer is for a device that knows no base: it looks whether the lines here are
// those of a former head, or the beginning of one, which left in other forms than today's
// rules give them. By these forms they are known as what others replaced.
func (s *sides) learnFormer(ctx context.Context) (found bool, err error) {
	former, err := s.cloud.histories(ctx)
	if err != nil {
		return false, err
	}
	for _, h := range former {
		if h.Branch() || h.Stream != segment.Transcript || h.Extent.N < s.local.main.end().N || s.cloud.sameForms(h.Extent) {
			continue
		}
		sent, err := s.compare(ctx, h.Extent.Point())
		if errors.Is(err, remoteread.ErrDamaged) {
			continue
		}
		if err != nil {
			return false, err
		}
		if sent.n == s.local.main.end().N {
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

// alike reports whether the rules of today make the same of a line here as of one that
// was sent.
func (s *source) alike(sent, line []byte) bool {
	image := s.today(line)
	return bytes.Equal(sent, image) || bytes.Equal(s.today(sent), image)
}

// marker is how the text begins that stands in the place of what was taken out;
// see package redact.
var marker = []byte("[redacted:")

// longestKind is how long the rest of a marker may be.
const longestKind = 64

// isFormOf reports whether sent can be what rules made of a line: the same bytes,
// with markers in the place of some.
func isFormOf(sent, line []byte) bool {
	first := true
	for {
		at := bytes.Index(sent, marker)
		if at < 0 {
			if first {
				return bytes.Equal(sent, line)
			}
			return bytes.HasSuffix(line, sent)
		}
		piece := sent[:at]
		end := bytes.IndexByte(sent[at:min(len(sent), at+len(marker)+longestKind)], ']')
		if end < 0 {
			return false
		}
		found := bytes.Index(line, piece)
		if found < 0 || first && found != 0 {
			return false
		}
		line, sent, first = line[found+len(piece):], sent[at+end+1:], false
	}
}
