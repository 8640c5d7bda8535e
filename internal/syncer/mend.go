package syncer

import (
	"cmp"
	"context"

	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// mend stores again what a problem is about, if this device has it, and
// reports whether it did.
func (s *sides) mend(ctx context.Context, p *Problem) (bool, error) {
	if p.File != "" {
		return s.mendFile(ctx, p.File)
	}
	h := s.local.holder(segment.Stream(p.Stream))
	if h == nil {
		return false, nil
	}
	from, ok, err := h.mark(ctx, p.From)
	if err != nil || !ok || p.start.N > 0 && from.Hash != p.start.Hash {
		return false, err
	}
	if has, err := h.has(ctx, p.end); err != nil || !has {
		return false, err
	}
	o := s.cloud.cut(0)
	if p.Document != "" { // the same cut as before gives the same id, and so replaces what is damaged
		o.Target = cmp.Or(o.Cap, segment.Capacity)
	}
	c := segment.NewCutter(o, segment.From{Stream: h.stream, Mark: from})
	uploads := s.cloud.uploader()
	if err := uploads.take(ctx, c.Documents(first(p.To-p.From, h.lines(ctx, from)))); err != nil {
		return false, err
	}
	if c.At().Mark.Point() != p.end {
		return false, errMoved
	}
	return true, uploads.upload(ctx)
}

// holder returns the file here with the lines of a stream.
func (l *local) holder(st segment.Stream) *history {
	if st == segment.Transcript && l.present {
		return l.main
	}
	for _, log := range l.logs {
		if log.stream == st {
			return log.history
		}
	}
	return nil
}

func (s *sides) mendFile(ctx context.Context, name string) (bool, error) {
	for _, f := range s.local.files {
		if f.name != name || !f.there || f.sum != s.cloud.head.Files[name].Sum {
			continue
		}
		if err := s.local.load(ctx, f); err != nil {
			return false, err
		}
		_, docs := segment.Pack(s.sid, f.content, s.Random.Name(8))
		uploads := s.cloud.uploader()
		if err := uploads.take(ctx, docs); err != nil {
			return false, err
		}
		return true, uploads.upload(ctx)
	}
	return false, nil
}
