package syncer

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"sort"

	"github.com/amplifier-go/sessionstorage/internal/gc"
	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/remote"
	"github.com/amplifier-go/sessionstorage/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// # Sessions that were written anew
//
// A head tells how often the lines and files of its session got other forms, see
// package resync. The state is of one such generation. A sync that meets another one
// brings the state up to it before it compares anything. No file here is changed.
//
// The new form of a line is what the rules of that head make of the form in which it was
// sent. A device with the same rules finds it without a request. A device with others
// fetches the lines, and compares them as one does that lost its state.
//
// The base, the last point that both sides had, tells which side changed since. So it is
// followed into the new generation, by the first line that fits:
//
//	its lines are here            it is where they end in their new forms
//	the transcript ended there    it is where the transcript ended then, as the head
//	when it was written anew      tells of the latest generations
//	it did not                    it stays as it was, and is on no side: both changed
//	that is too long ago          it is the place in the head with as many lines
//	it is not known               there is none: where the lines here are a former head
//	                              in any form, the cloud changed; see learnFormer
//
// So a rewind here is sent when nobody else changed the session before it was written anew
// or since, and it gives way when somebody did, as without a new generation.

// renew brings what is known of the session up to the generation of the head that was
// read. before is the one that was known.
func (s *sides) renew(ctx context.Context, before *head.Head) error {
	t := s.cloud.head
	if s.local.main == nil || t == nil || t.Deleted || t.Anew.Generation == s.st.Generation {
		return nil
	}
	if s.local.present && (s.st.Base != nil || len(s.st.Files) > 0 || len(s.local.logs) > 0) {
		s.cloud.infos = nil
		if err := s.renewMain(ctx); err != nil {
			return err
		}
		for _, l := range s.local.logs {
			if err := s.renewLog(ctx, l); err != nil {
				return err
			}
		}
		if err := s.renewFiles(ctx, before); err != nil {
			return err
		}
		s.cloud.infos = nil
	}
	s.st.Generation = t.Anew.Generation
	return s.cloud.removeVain(ctx)
}

// removeVain removes what this sync stored for a head that came to nothing, in forms
// that nobody needs any more.
func (c *cloud) removeVain(ctx context.Context) error {
	if len(c.left.deletes) == 0 {
		return nil
	}
	err := gc.Sweep(ctx, &gc.Session{SID: c.sid, Reader: c.link, Head: c.st.Head, Device: c.Device.ID, Random: c.Random})
	if err == nil {
		c.left.clear()
		err = errLost // the sweep changed the head's version
	}
	return err
}

// renewMain finds the forms of the transcript's lines.
func (s *sides) renewMain(ctx context.Context) error {
	if s.st.Base == nil {
		return s.local.renewed(ctx, func(int64, []byte) ([]byte, bool) { return nil, false })
	}
	base, old := *s.st.Base, s.local.main
	on, err := old.has(ctx, base)
	if err != nil {
		return err
	}
	sent := base.N
	if !on {
		sent = min(sent, old.end().N)
	}
	if err := s.local.renewed(ctx, func(n int64, line []byte) ([]byte, bool) {
		if n >= sent {
			return nil, false
		}
		return old.today(old.leaving(n, line)), true
	}); err != nil {
		return err
	}
	known, err := s.renewBase(ctx, base, on)
	if err != nil || known {
		return err
	}
	if err := s.learnForms(ctx); err != nil {
		return err
	}
	_, err = s.renewBase(ctx, base, on)
	return err
}

// renewed follows the transcript again.
func (l *local) renewed(ctx context.Context, known forms) error {
	h, err := l.main.anew(ctx, known)
	if err != nil {
		return err
	}
	l.main, l.st.Main = h, &h.Followed
	return nil
}

// renewBase finds out where the last point is now that both sides had. Where its lines are
// here, on, the lines here tell, and else the head does. It reports whether the lines here
// have the forms that those of the cloud have, as far as both have them.
func (s *sides) renewBase(ctx context.Context, base segment.Point, on bool) (known bool, err error) {
	if on {
		at, ok, err := s.local.main.mark(ctx, base.N)
		if err != nil || !ok {
			return false, errors.Join(errMoved, err)
		}
		p := at.Point()
		s.st.Base = &p
		return s.cloud.goesThrough(ctx, p, s.cloud.head.Transcript.Point())
	}
	if now, told := s.cloud.head.Anew.Follow(s.st.Generation, base); told {
		s.st.Base = &now
	} else if s.st.Base, err = s.cloud.at(ctx, base.N); err != nil {
		return false, err
	}
	shared, err := s.common(ctx)
	return shared > 0, err
}

// at returns where line n of the cloud's transcript ends; nil where it has fewer.
func (c *cloud) at(ctx context.Context, n int64) (*segment.Point, error) {
	to := c.head.Transcript.Point()
	if n >= to.N {
		if n > to.N {
			return nil, nil
		}
		return &to, nil
	}
	infos, err := c.listed(ctx)
	if err != nil {
		return nil, err
	}
	spans, err := segment.Tile(segment.Transcript, infos, segment.Origin(segment.Transcript), to)
	if err != nil {
		return nil, remote.Damaged(err)
	}
	i := sort.Search(len(spans), func(i int) bool { return spans[i].Upto.N >= n })
	at := spans[i].From
	for line, err := range c.link.Lines(ctx, segment.Transcript, infos, at, spans[i].Upto, nil) {
		if err != nil {
			return nil, err
		}
		if at.N == n {
			break
		}
		at = at.Add(line)
	}
	return &at, nil
}

// goesThrough reports whether the cloud's transcript, which ends at to, goes through p.
func (c *cloud) goesThrough(ctx context.Context, p, to segment.Point) (bool, error) {
	if p == to || p.N == 0 {
		return true, nil
	}
	if p.N >= to.N {
		return false, nil
	}
	return c.has(ctx, p, to)
}

// renewLog finds the forms of the lines of a log.
func (s *sides) renewLog(ctx context.Context, l *ownLog) error {
	r, ok := s.cloud.head.Logs[l.stream]
	if !ok {
		return nil
	}
	old := l.history
	h, err := old.anew(ctx, func(n int64, line []byte) ([]byte, bool) {
		if n >= r.N {
			return nil, false
		}
		return old.today(old.leaving(n, line)), true
	})
	if err != nil {
		return err
	}
	l.history, l.own.File = h, &h.Followed
	if has, err := h.has(ctx, r.Point()); err != nil || has {
		return err
	}
	return s.learnLog(ctx, l, r)
}

// learnLog compares the lines of a log with those in the cloud, which only this device
// writes, and keeps their forms.
func (s *sides) learnLog(ctx context.Context, l *ownLog, r head.Extent) error {
	was := &history{source: l.source}
	n := int64(0)
	next, stop := iter.Pull2(s.cloud.link.LogLines(ctx, s.cloud.head, l.stream, r))
	defer stop()
	for line, err := range l.raw(ctx, l.start) {
		if err != nil {
			return gone(err)
		}
		sent, err, ok := next()
		if err != nil {
			return err
		}
		if !ok || !l.alike(sent, line) && !isFormOf(sent, line) {
			break
		}
		was.add(n, line, func(int64, []byte) ([]byte, bool) { return bytes.Clone(sent), true })
		n++
	}
	h, err := l.anew(ctx, func(at int64, line []byte) ([]byte, bool) {
		if at >= n {
			return nil, false
		}
		if f := formAt(was.Forms, at); f != nil && f.Of(line) {
			return f.Apply(line), true
		}
		return line, true
	})
	if err == nil {
		l.history, l.own.File = h, &h.Followed
	}
	return err
}

// anew follows a file again from its beginning, with the forms that known tells.
func (h *history) anew(ctx context.Context, known forms) (*history, error) {
	next := &history{source: h.source, there: h.there}
	if !h.there {
		return next, nil
	}
	err := h.core.Read(ctx, h.id, func(dir *sessiondir.Dir) error {
		f, err := next.open(dir)
		if err != nil {
			return err
		}
		if !next.File.SameContent(h.File) {
			return errors.Join(errMoved, f.close())
		}
		next.Rules = next.rules()
		return errors.Join(next.hash(ctx, f, []segment.Mark{next.begin()}, known), f.close())
	})
	return next, gone(err)
}

// renewFiles takes note of small files that only got another form. One that changed
// here since it was sent stays a change.
func (s *sides) renewFiles(ctx context.Context, before *head.Head) error {
	if before == nil {
		return nil
	}
	for _, f := range s.local.files {
		known, was, now := s.st.Files[f.name], before.Files[f.name], s.cloud.head.Files[f.name]
		if known == nil || known.Sum != was.Sum || now.Sum == was.Sum || now.Clock != was.Clock || !f.there || f.bad || f.large {
			continue
		}
		content, err := s.cloud.link.File(ctx, s.sid, now)
		if err != nil {
			return err
		}
		if err := s.local.renewFile(ctx, f, known, content); err != nil {
			return err
		}
	}
	return gone(s.local.scanFiles(ctx))
}

func (l *local) renewFile(ctx context.Context, f *localFile, known *replica.KnownFile, content []byte) error {
	own, err := l.raw(ctx, f)
	if err != nil {
		return err
	}
	next := &replica.KnownFile{Sum: sum(content), Seen: sum(content), File: f.stamp, At: known.At}
	if f.name == sessiondir.Metadata {
		next.Base = bytes.Clone(content)
	}
	if f.sum == known.Sum {
		next.Forms = lineForms(own, content)
		if sum(sentLines(own, next.Forms)) != next.Sum {
			return nil // it is merged, as a change of another device is
		}
	} else {
		next.Seen, next.File = segment.Hash{}, sessiondir.Stamp{} // it is read again
	}
	l.st.Files[f.name] = next
	return nil
}
