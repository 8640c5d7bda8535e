package hybrid

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// simReader reads the documents of the remote with nothing of this package,
// and checks every head that anybody makes.
type simReader struct {
	held  func() []held    // by the remote
	words []*regexp.Regexp // that may not leave a device

	mu       sync.Mutex // guards what follows
	marks    int
	versions map[string]string          // of heads that were checked
	changed  int                        // how often heads had another version
	ever     map[string]map[string]bool // records that were once on a history of a session, by sid
	checks   int
	problems []string
}

// held is a document that the remote has in some version.
type held struct {
	segment.Document
	version string
}

// heldBy returns what a server has. It reads each content of a document once.
func heldBy(srv *cosmostest.Server) func() []held {
	type read struct {
		body []byte
		segment.Document
	}
	known := map[string]read{} // by partition and id
	var mu sync.Mutex          // guards known
	return func() (all []held) {
		mu.Lock()
		defer mu.Unlock()
		now := map[string]read{}
		for _, d := range srv.Docs(testDatabase, testContainer) {
			doc, ok := known[d.Partition+d.ID]
			if !ok || !bytes.Equal(doc.body, d.Body) {
				doc = read{d.Body, documentOf(d)}
			}
			now[d.Partition+d.ID] = doc
			all = append(all, held{doc.Document, d.ETag})
		}
		known = now
		return all
	}
}

func newSimReader(all func() []held) *simReader {
	return &simReader{held: all, versions: map[string]string{}, ever: map[string]map[string]bool{}}
}

// mark returns a new mark for a record.
func (r *simReader) mark() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.marks++
	return fmt.Sprintf("rec-%d;", r.marks)
}

// observe looks at what a request to a server changed.
func (r *simReader) observe(rec cosmostest.Record) {
	if rec.Written > 0 && strings.HasPrefix(rec.Partition, `["s-`) {
		r.look(fmt.Sprintf("request %d (%s)", rec.N, rec.Op))
	}
}

// look checks the heads that a request changed.
func (r *simReader) look(request string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.shelf()
	for _, d := range s.heads {
		if r.versions[d.ID] == d.version {
			continue
		}
		r.versions[d.ID] = d.version
		r.changed++
		r.checks++
		if err := r.check(s, d); err != nil {
			r.problems = append(r.problems, fmt.Sprintf("tip %s after %s: %v", d.ID, request, err))
		}
	}
}

// lookAgain checks the head of a session from which a request took something. The partition
// begins with the session's id.
func (r *simReader) lookAgain(request, pk string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.shelf()
	for _, d := range s.heads {
		if r.versions[d.ID] != d.version || !strings.HasPrefix(pk, strings.TrimSuffix(d.ID, "-head")) {
			continue // what is new is checked where it is noticed
		}
		r.checks++
		if err := r.check(s, d); err != nil {
			r.problems = append(r.problems, fmt.Sprintf("tip %s after %s: %v", d.ID, request, err))
		}
	}
}

// heads returns how often heads had another version.
func (r *simReader) heads() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

// blame takes note of something that is wrong.
func (r *simReader) blame(problem string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problems = append(r.problems, problem)
}

// check reads all that a head leads to.
func (r *simReader) check(s *shelf, d held) error {
	t, err := head.Decode(d.Body, strings.TrimSuffix(d.ID, "-head"))
	if err != nil || t.Deleted {
		return err
	}
	text, err := s.history(t, t.Transcript.Point())
	if err != nil {
		return err
	}
	if int64(len(text)) != t.Transcript.Bytes {
		return fmt.Errorf("transcript has %d bytes, the tip says %d", len(text), t.Transcript.Bytes)
	}
	if err := r.never(text); err != nil {
		return fmt.Errorf("transcript: %w", err)
	}
	if err := r.note(s, t, text); err != nil {
		return err
	}
	for st, extent := range t.Logs {
		infos, err := s.infos(t.SID, st)
		if err != nil {
			return err
		}
		if text, err := s.lines(st, infos, extent.Point()); err != nil || int64(len(text)) != extent.Bytes {
			return fmt.Errorf("stream %s: %d bytes, not %d: %w", st, len(text), extent.Bytes, err)
		} else if err := r.never(text); err != nil {
			return fmt.Errorf("stream %s: %w", st, err)
		}
	}
	for name, f := range t.Files {
		text, err := f.Unpack(t.SID, s.Chunk)
		if err != nil {
			return fmt.Errorf("file %s: %w", name, err)
		}
		if err := r.never(text); err != nil {
			return fmt.Errorf("file %s: %w", name, err)
		}
	}
	return nil
}

// note keeps in mind which records a session has had, on any history.
func (r *simReader) note(s *shelf, t *head.Head, main []byte) error {
	if r.ever[t.SID] == nil {
		r.ever[t.SID] = map[string]bool{}
	}
	maps.Copy(r.ever[t.SID], marksIn(main))
	known := s.of(t)
	if len(known) != t.Histories.Len() {
		return fmt.Errorf("the cloud has %d of the %d histories that the head names", len(known), t.Histories.Len())
	}
	for _, h := range known {
		if err := s.add(r.ever[t.SID], t, h); err != nil {
			return err
		}
	}
	logged, err := s.logged(t)
	maps.Copy(r.ever[t.SID], logged)
	if f, ok := t.Files[head.Metadata]; ok && err == nil {
		var text []byte
		if text, err = f.Unpack(t.SID, s.Chunk); err == nil {
			maps.Copy(r.ever[t.SID], marksIn(text))
		}
	}
	return err
}

// cloudSession is a session in the cloud.
type cloudSession struct {
	tip      *head.Head
	main     []byte
	metadata []byte
	config   []byte
	records  map[string]bool // all that it keeps
	firm     map[string]bool // those of them that are not on former heads alone
	logged   map[string]bool // in its logs
}

// found returns what was wrong so far.
func (r *simReader) found() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.problems)
}

// sessions reads everything, by session id; nil stands for a deleted one.
func (r *simReader) sessions() (map[string]*cloudSession, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all, s := map[string]*cloudSession{}, r.shelf()
	for _, d := range s.heads {
		t, err := head.Decode(d.Body, strings.TrimSuffix(d.ID, "-head"))
		if err != nil {
			return nil, err
		}
		if t.Deleted {
			all[t.Session] = nil
			continue
		}
		if all[t.Session], err = s.session(t); err != nil {
			return nil, fmt.Errorf("session %s: %w", t.Session, err)
		}
	}
	return all, nil
}

func (s *shelf) session(t *head.Head) (c *cloudSession, err error) {
	c = &cloudSession{tip: t}
	if c.main, err = s.history(t, t.Transcript.Point()); err != nil {
		return nil, err
	}
	if f, ok := t.Files[head.Metadata]; ok {
		if c.metadata, err = f.Unpack(t.SID, s.Chunk); err != nil {
			return nil, err
		}
	}
	if f, ok := t.Files[sessiondir.Config]; ok {
		if c.config, err = f.Unpack(t.SID, s.Chunk); err != nil {
			return nil, err
		}
	}
	c.firm = marksIn(c.main)
	for _, h := range s.of(t) {
		if h.Branch() {
			err = errors.Join(err, s.add(c.firm, t, h))
		}
	}
	if err != nil {
		return nil, err
	}
	if c.logged, err = s.logged(t); err != nil {
		return nil, err
	}
	maps.Copy(c.firm, c.logged)
	maps.Copy(c.firm, marksIn(c.metadata))
	c.records = maps.Clone(c.firm)
	for _, h := range s.of(t) {
		err = errors.Join(err, s.add(c.records, t, h))
	}
	return c, err
}

// logged returns the records in the logs of t's session.
func (s *shelf) logged(t *head.Head) (map[string]bool, error) {
	all := map[string]bool{}
	for st, extent := range t.Logs {
		infos, err := s.infos(t.SID, st)
		if err != nil {
			return nil, err
		}
		text, err := s.lines(st, infos, extent.Point())
		if err != nil {
			return nil, fmt.Errorf("stream %s: %w", st, err)
		}
		maps.Copy(all, marksIn(text))
	}
	return all, nil
}

// reachable returns all records that the cloud has.
func (r *simReader) reachable() map[string]bool {
	found, _ := r.kept()
	return found
}

// kept returns all records that the cloud has, and those of them that only a
// deletion takes away.
func (r *simReader) kept() (found, firm map[string]bool) {
	found, firm = map[string]bool{}, map[string]bool{}
	all, err := r.sessions()
	if err != nil {
		r.mu.Lock()
		r.problems = append(r.problems, err.Error())
		r.mu.Unlock()
	}
	for _, c := range all {
		if c != nil {
			maps.Copy(found, c.records)
			maps.Copy(firm, c.firm)
		}
	}
	return found, firm
}

// once reports whether a record was ever on a history of a session.
func (r *simReader) once(sid, mark string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ever[sid][mark]
}
