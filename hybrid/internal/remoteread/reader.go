package remoteread

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// Reader makes the requests of one piece of work, and counts them. Its methods may be called
// by several goroutines.
type Reader struct {
	Remote remote.Remote
	Alone  bool // it makes one request at a time

	mu    sync.Mutex // guards the rest
	usage Usage
	read  time.Time // when the newest read began, by the wall clock
}

// Usage is the cost of a piece of work.
type Usage struct {
	Requests, Documents int   // made, stored
	Bytes               int64 // of the documents stored
	Units               float64
}

// Usage returns the cost of the work so far.
func (r *Reader) Usage() Usage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.usage
}

func (r *Reader) count(q remote.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.usage.Requests++
	r.usage.Units += q.Units
}

// atOnce returns how many of n requests are made at once.
func (r *Reader) atOnce(n int) int {
	if r.Alone {
		return 1
	}
	return n
}

// Time returns the time of the remote's newest answer, by its clock; the zero time when
// it is not known.
func (r *Reader) Time() time.Time { return r.info().Time }

// Complete returns the time for which a list that begins now is complete; the zero time
// where the remote names none.
func (r *Reader) Complete() time.Time { return r.info().Complete }

// infoTime is how long the time of a remote is waited for: a directory that hangs has none.
const infoTime = 5 * time.Second

func (r *Reader) info() remote.Info {
	ctx, cancel := context.WithTimeout(context.Background(), infoTime)
	defer cancel()
	info, _ := r.Remote.Info(ctx) // without an answer there is no time
	return info
}

// Get reads a document, nil when there is none. The error Is [remote.ErrUnchanged] when
// it has the known version.
func (r *Reader) Get(ctx context.Context, pk, id string, known remote.Version) (*remote.Object, error) {
	r.reads()
	o, err := r.Remote.Get(remote.Observed(ctx, r.count), pk, id, known)
	if errors.Is(err, remote.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &o, nil
}

// List yields the documents of a partition that q selects, without their bodies.
func (r *Reader) List(ctx context.Context, pk string, q remote.Query) iter.Seq2[remote.Object, error] {
	r.reads()
	return r.Remote.List(remote.Observed(ctx, r.count), pk, q)
}

// reads notes that a read begins.
func (r *Reader) reads() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read = time.Now().Round(0) // other clocks stand still while the machine sleeps
}

// maxLate is how long after the newest read documents are removed. A machine that slept in
// between may remove what other devices count on by now.
const maxLate = time.Hour

// Discard removes documents of a partition, of which the work read that nothing leads to them.
// A missing document is no error. The error Is [ErrLost], and nothing is removed, when the work
// last read more than an hour ago.
func (r *Reader) Discard(ctx context.Context, pk string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	r.mu.Lock()
	late := !r.read.IsZero() && time.Now().Round(0).Sub(r.read) > maxLate
	r.mu.Unlock()
	if late {
		return fmt.Errorf("%w: documents to remove were read more than %v ago", ErrLost, maxLate)
	}
	return r.Remote.Delete(remote.Observed(ctx, r.count), pk, ids)
}

// HeadDocument reads the document of the head of any session, nil when it has none.
func (r *Reader) HeadDocument(ctx context.Context, sid string) (*remote.Object, error) {
	return r.Get(ctx, segment.SessionPK(sid), segment.HeadID(sid), "")
}

// Source reads segments and chunks, some of them ahead. It is a [segment.Source]
// for one goroutine.
type Source struct {
	ctx    context.Context
	cancel context.CancelFunc
	reader *Reader
	order  []segment.Info
	next   int // of order, not begun
	begun  map[string]chan fetched
	work   sync.WaitGroup
}

type fetched struct {
	doc segment.Document
	err error
}

// readAhead is the number of documents that are read at once.
const readAhead = 4

// Source returns a source that expects segments to be requested in the given order. It
// reads others too, but none of them ahead. The caller closes it.
func (r *Reader) Source(ctx context.Context, order []segment.Info) *Source {
	ctx, cancel := context.WithCancel(ctx)
	return &Source{ctx: ctx, cancel: cancel, reader: r, order: order, begun: map[string]chan fetched{}}
}

// Close ends the requests that are under way.
func (s *Source) Close() {
	s.cancel()
	s.work.Wait()
}

// Segment implements [segment.Source].
func (s *Source) Segment(in segment.Info) (segment.Document, error) {
	depth := s.reader.atOnce(readAhead)
	for ; s.next < len(s.order) && (s.order[s.next].ID == in.ID || len(s.begun) < depth); s.next++ {
		s.begin(s.order[s.next])
	}
	c, ok := s.begun[in.ID]
	if !ok {
		return s.reader.document(s.ctx, in.PK, in.ID)
	}
	delete(s.begun, in.ID)
	got := <-c
	return got.doc, got.err
}

func (s *Source) begin(in segment.Info) {
	c := make(chan fetched, 1)
	s.begun[in.ID] = c
	s.work.Go(func() {
		doc, err := s.reader.document(s.ctx, in.PK, in.ID)
		c <- fetched{doc, err}
	})
}

// Chunks implements [segment.Source]. It reads some chunks ahead.
func (s *Source) Chunks(pk string, ids []string) iter.Seq2[segment.Document, error] {
	return func(yield func(segment.Document, error) bool) {
		ctx, cancel := context.WithCancel(s.ctx)
		var work sync.WaitGroup
		defer work.Wait()
		defer cancel()
		depth := s.reader.atOnce(readAhead)
		begun := make([]chan fetched, 0, len(ids))
		for i := range ids {
			for len(begun) < min(i+depth, len(ids)) {
				c, id := make(chan fetched, 1), ids[len(begun)]
				begun = append(begun, c)
				work.Go(func() {
					doc, err := s.reader.document(ctx, pk, id)
					c <- fetched{doc, err}
				})
			}
			got := <-begun[i]
			begun[i] = nil
			if !yield(got.doc, got.err) || got.err != nil {
				return
			}
		}
	}
}

func (r *Reader) document(ctx context.Context, pk, id string) (segment.Document, error) {
	o, err := r.Get(ctx, pk, id, "")
	if errors.Is(err, remote.ErrTooLarge) {
		err = fmt.Errorf("%w: %w", segment.ErrDamaged, err)
	}
	if err != nil {
		return segment.Document{}, err
	}
	if o == nil {
		return segment.Document{}, segment.ErrMissing
	}
	return segment.Document{ID: id, PK: pk, Label: o.Label, Body: o.Body}, nil
}

// Lines yields the lines of a stream between two points, after their hashes were checked;
// see [segment.Lines] for its needs and for how long a line is valid. The error is the
// last thing yielded. It Is [ErrDamaged] when lines are missing or do not match their
// hashes.
func (r *Reader) Lines(ctx context.Context, st segment.Stream, infos []segment.Info, from, to segment.Point, large *segment.Large) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var order []segment.Info
		if spans, err := segment.Tile(st, infos, from, to); err == nil {
			for _, s := range spans {
				order = append(order, s.Info)
			}
		}
		s := r.Source(ctx, order)
		defer s.Close()
		for line, err := range segment.Lines(s, st, infos, from, to, large) {
			if err != nil {
				yield(nil, Damaged(err))
				return
			}
			if !yield(line, nil) {
				return
			}
		}
	}
}

// File reads a small file of a session's head. The error Is [ErrDamaged] when the content
// does not match the head.
func (r *Reader) File(ctx context.Context, sid string, f head.File) ([]byte, error) {
	content, err := f.Unpack(sid, func(pk, id string) (segment.Document, error) { return r.document(ctx, pk, id) })
	return content, Damaged(err)
}

// LogLines yields all lines of a log.
func (r *Reader) LogLines(ctx context.Context, t *head.Head, st segment.Stream, extent head.Extent) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		infos, err := r.Segments(ctx, t, st, 0)
		if err != nil {
			yield(nil, err)
			return
		}
		r.Lines(ctx, st, infos, segment.Origin(st), extent.Point(), nil)(yield)
	}
}
