package syncer

import (
	"cmp"
	"context"
	"errors"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/gc"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
)

// mendAll stores again what the problems of a report are about, as far as this device has
// it, and condemns the segments in the place of which that is.
func (v *work) mendAll(ctx context.Context, r *Report) error {
	if len(v.cloud.head.Gone) > 0 { // so that mending that is killed again and again leaves one list
		return errors.Join(gc.Finish(ctx, v.cloud.gc()), errLost)
	}
	p := &draft{next: v.nextHead(), uploads: v.cloud.uploader()}
	g := head.Gone{ID: segment.GoneID(v.sid, v.Random.Name(8))}
	mended := 0
	for i := range r.Problems {
		of := &r.Problems[i]
		ok, names, err := v.mend(ctx, of, p)
		if err != nil {
			return err
		}
		if of.Mended = ok; ok {
			mended++
		}
		g.Names = append(g.Names, names...)
	}
	if mended == 0 {
		return nil
	}
	if len(g.Names) > 0 {
		doc, err := g.Encode(v.sid)
		if err != nil {
			return err
		}
		p.next.Gone = append(p.next.Gone, g.ID)
		if err := p.uploads.add(ctx, doc); err != nil {
			return err
		}
	}
	if err := v.commit(ctx, p); err != nil {
		return err
	}
	r.Mended = mended
	if len(g.Names) == 0 {
		return nil
	}
	return gc.Finish(ctx, v.cloud.gc())
}

// mend stores again what a problem is about, if this device has it. It reports whether it
// did, and returns the ids of the segments that have no other lines.
func (v *work) mend(ctx context.Context, of *Problem, p *draft) (ok bool, names []string, err error) {
	if of.File != "" {
		ok, err = v.mendFile(ctx, of.File, p)
		return ok, nil, err
	}
	h := v.local.holder(segment.Stream(of.Stream))
	if h == nil {
		return false, nil, nil
	}
	from, ok, err := h.Mark(ctx, of.From)
	if err != nil || !ok || of.start.N > 0 && from.Hash != of.start.Hash {
		return false, nil, err
	}
	if has, err := h.Has(ctx, of.end); err != nil || !has {
		return false, nil, err
	}
	o := v.cloud.cut(0)
	if of.Document != "" { // as large as what it is to take the place of, so that it is read first
		o.Target = cmp.Or(o.Cap, segment.Capacity)
	}
	c := segment.NewCutter(o, segment.From{Stream: h.Stream, Mark: from})
	if err := p.uploads.take(ctx, c.Documents(track.First(of.To-of.From, h.Lines(ctx, from)))); err != nil {
		return false, nil, err
	}
	if c.At().Mark.Point() != of.end {
		return false, nil, track.ErrMoved
	}
	names, err = within(ctx, h, of)
	return true, names, err
}

// within returns the ids of the listed segments that have no lines but those of a problem,
// as they are here.
func within(ctx context.Context, h *track.Chain, of *Problem) (names []string, err error) {
	for _, in := range of.listed {
		if in.From.N < of.From || in.To.N > of.To {
			continue
		}
		begins, err := h.Has(ctx, in.From)
		if err != nil {
			return nil, err
		}
		if ends, err := h.Has(ctx, in.To); err != nil {
			return nil, err
		} else if begins && ends {
			names = append(names, in.ID)
		}
	}
	return names, nil
}

// holder returns the file here with the lines of a stream.
func (l *local) holder(st segment.Stream) *track.Chain {
	if st == segment.Transcript && l.present {
		return l.main
	}
	for _, log := range l.logs {
		if log.Stream == st {
			return log.Chain
		}
	}
	return nil
}

func (v *work) mendFile(ctx context.Context, name string, p *draft) (bool, error) {
	for _, f := range v.local.files {
		was := v.cloud.head.Files[name]
		if f.name != name || !f.there || f.sum != was.Sum {
			continue
		}
		if err := v.local.load(ctx, f); err != nil {
			return false, err
		}
		blob, docs := segment.Pack(v.sid, f.content, v.Random.Name(8))
		was.Blob = blob
		p.next.Files[name] = was
		return true, p.uploads.take(ctx, docs)
	}
	return false, nil
}
