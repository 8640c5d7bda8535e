package syncer

import (
	"context"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/gc"
	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// mendAll stores again what the problems of a report are about, as far as this device has
// it. The head condemns the segments that are damaged then, but for those that have lines
// of other histories too.
func (v *push) mendAll(ctx context.Context, r *Report) error {
	p := &draft{next: v.nextHead(), uploads: v.cloud.uploader()}
	g := head.Gone{ID: segment.GoneID(v.sid, v.Random.Name(8))}
	mended := 0
	for i := range r.Problems {
		of := &r.Problems[i]
		ok, err := v.mend(ctx, of, p)
		if err != nil {
			return err
		}
		if of.Mended = ok; ok {
			mended++
		}
		if ok && of.whole {
			g.Names = append(g.Names, of.Document)
		}
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
		p.uploads.with(cosmos.Put(doc.Body))
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

// mend stores again what a problem is about, if this device has it, and
// reports whether it did.
func (v *push) mend(ctx context.Context, of *Problem, p *draft) (bool, error) {
	if of.File != "" {
		return v.mendFile(ctx, of.File, p)
	}
	h := v.local.holder(segment.Stream(of.Stream))
	if h == nil {
		return false, nil
	}
	from, ok, err := h.mark(ctx, of.From)
	if err != nil || !ok || of.start.N > 0 && from.Hash != of.start.Hash {
		return false, err
	}
	if has, err := h.has(ctx, of.end); err != nil || !has {
		return false, err
	}
	c := segment.NewCutter(v.cloud.cut(0), segment.From{Stream: h.stream, Mark: from})
	if err := p.uploads.take(ctx, c.Documents(first(of.To-of.From, h.lines(ctx, from)))); err != nil {
		return false, err
	}
	if c.At().Mark.Point() != of.end {
		return false, errMoved
	}
	return true, nil
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

func (v *push) mendFile(ctx context.Context, name string, p *draft) (bool, error) {
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
