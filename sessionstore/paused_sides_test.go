package sessionstore_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/writertest"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// pausedRun is one run of [TestPausedWriters].
type pausedRun struct {
	paused
	t            *testing.T
	dir, session string // the directory of sessions, and the session
	seed, stream uint64
	python       *writertest.Python // nil: the old tool is written in Go
	h            writertest.History
}

const (
	pausedCalls = 12                    // of each writer in a run
	pausedRest  = 60 * time.Millisecond // between two calls, at most; longer after a slow call
)

// The pausers of a run.
const (
	pauserTheirs = iota
	pauserOurs
	pauserOldReader
	pauserOurReader
)

func (r *pausedRun) pauser(who uint64) *writertest.Pauser {
	return writertest.NewPauser(r.seed, r.stream|who)
}

func (r *pausedRun) tool(who uint64) (writertest.Tool, *writertest.Pauser) {
	p := r.pauser(who)
	if who == pauserTheirs && r.python != nil {
		return r.python.In(r.session), p
	}
	return &writertest.OldTool{Dir: r.session, Step: func(string) { p.Pause() }}, p
}

func (r *pausedRun) check(err error) {
	if err != nil {
		r.t.Error(err)
	}
}

// theirs lets the old tool load and save in turn.
func (r *pausedRun) theirs() {
	tool, p := r.tool(pauserTheirs)
	r.turns(tool, p, func(i int) error { return r.h.Theirs(tool, numbered("theirs", i)) })
}

// second lets a second old tool do the same, in a control.
func (r *pausedRun) second() {
	tool, p := r.tool(pauserOurs)
	r.turns(tool, p, func(i int) error {
		return r.h.Ours("save of a second tool", numbered("ours", i), func(c *writertest.Call) error {
			return r.h.Turn(tool, c)
		})
	})
}

// turns lets do save the transcript, and tool its metadata, again and again.
func (r *pausedRun) turns(tool writertest.Tool, p *writertest.Pauser, do func(i int) error) {
	took := time.Duration(0)
	for i := range pausedCalls {
		p.Rest(max(pausedRest, 3*took))
		begin := time.Now()
		r.check(do(i))
		took = time.Since(begin)
		_, err := tool.Save(writertest.Metadata, r.metadata(2+i))
		r.check(err)
	}
}

// open opens a store that pauses at each step.
func (r *pausedRun) open(p *writertest.Pauser) (*sessionstore.Store, error) {
	return sessionstore.OpenWithSeam(r.dir, &sessionstore.Options{Durability: durabilities[r.durability]}, &seam.Seam{
		Before: func(seam.Op) error { p.Pause(); return nil },
		After:  func(seam.Op) { p.Pause() },
	})
}

// ours lets a store write in all its ways.
func (r *pausedRun) ours() {
	p := r.pauser(pauserOurs)
	st, err := r.open(p)
	if err != nil {
		r.t.Error(err)
		return
	}
	defer func() { r.check(st.Close()) }()
	took := time.Duration(0)
	for i := range pausedCalls {
		p.Rest(max(pausedRest, 3*took))
		begin := time.Now()
		row := numbered("ours", i)
		switch n := p.IntN(20); {
		case n < 10:
			err = r.h.Ours("Append", row, func(*writertest.Call) error { return r.append(st, row) })
		case n < 14:
			err = r.h.Ours("Append of a new store", row, func(*writertest.Call) error { return r.appendNew(p, row) })
		case n < 17:
			err = r.h.Ours("Load and Save", row, func(*writertest.Call) error { return r.loadAndSave(st, row) })
		default:
			err = r.h.Ours("Replace", row, func(c *writertest.Call) error { return r.replace(st, row, c) })
		}
		r.check(err)
		took = time.Since(begin)
	}
}

func (r *pausedRun) append(st *sessionstore.Store, row string) error {
	return st.Append(r.t.Context(), turnsID, parse(r.t, row)...)
}

func (r *pausedRun) appendNew(p *writertest.Pauser, row string) error {
	st, err := r.open(p)
	if err != nil {
		return err
	}
	return errors.Join(r.append(st, row), st.Close())
}

func (r *pausedRun) loadAndSave(st *sessionstore.Store, row string) error {
	s, err := r.load("Load of a store that saves", st)
	if err != nil {
		return err
	}
	rows := append(s.Messages, parse(r.t, row)...)
	if r.counted {
		if err := s.Metadata.Set("turn_count", len(rows)); err != nil {
			return err
		}
	}
	return st.Save(r.t.Context(), turnsID, rows, s.Metadata)
}

// replace loads and replaces until no other writer comes between.
func (r *pausedRun) replace(st *sessionstore.Store, row string, c *writertest.Call) error {
	for {
		s, err := r.load("Load of a store that replaces", st)
		if err != nil {
			return err
		}
		_, err = st.Replace(r.t.Context(), turnsID, s.Revision, append(s.Messages, parse(r.t, row)...))
		if !errors.Is(err, sessionstore.ErrConflict) {
			return err
		}
		r.h.Again(c)
	}
}

// load loads with the store and records what it met.
func (r *pausedRun) load(reader string, st *sessionstore.Store) (*sessionstore.Session, error) {
	met := writertest.Read{Reader: reader, Begin: time.Now()}
	s, err := st.Load(r.t.Context(), turnsID)
	met.End, met.Err = time.Now(), err
	if err == nil {
		met.Rows = lines(s.Messages)
		if s.Recovered != nil {
			met.Main, met.Err = writertest.Torn, fmt.Errorf("recovered: %w", s.Recovered.Reason)
		}
	}
	r.h.Met(met)
	return s, err
}

// oldReader loads as the old tool does, until done.
func (r *pausedRun) oldReader(done <-chan struct{}) {
	tool, p := r.tool(pauserOldReader)
	for until(done) {
		_, err := r.h.Load("load of an old tool", tool)
		r.check(err)
		p.Rest(pausedRest)
	}
}

// ourReader loads with a store, until done.
func (r *pausedRun) ourReader(done <-chan struct{}) {
	p := r.pauser(pauserOurReader)
	st, err := r.open(p)
	if err != nil {
		r.t.Error(err)
		return
	}
	defer func() { r.check(st.Close()) }()
	for until(done) {
		_, err := r.load("Load", st)
		r.check(err)
		p.Rest(pausedRest)
	}
}

// until reports whether done is yet to come.
func until(done <-chan struct{}) bool {
	select {
	case <-done:
		return false
	default:
		return true
	}
}
