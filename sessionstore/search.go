package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// Query says which sessions [Projects.Find] looks for. Members that are zero
// do not narrow the search.
type Query struct {
	Project       string    // slug of the one project to look in
	After, Before time.Time // Created lies strictly between; sessions without a readable time stay
	Keyword       string    // in a row of the transcript as Python writes it, in any case: "role": "user" is in most

	// Match decides last, and only on what all the others let through. It is
	// called for one session at a time, with the name of its directory.
	Match func(ctx context.Context, st *Store, id string) (bool, error)

	Limit int // the first so many are found; 0 or less: all
}

// Found is one session that [Projects.Find] found.
type Found struct {
	ID          string // session_id of the metadata, else the base name of Dir, by which a [Store] knows the session
	Project     string
	Dir         string
	Created     time.Time // zero where CreatedText is no time; UTC where it has no zone
	CreatedText string    // "" where it is missing or no string

	Bundle, Model string // "" where they are missing or no strings
}

// Find returns the sessions that q describes, as the reference's session
// finder does: sub-sessions and hidden ones too, but no directory without
// metadata.json; backups are not looked at. The one created last comes first,
// by time. Among equal times, and where a text is no time, the order is that
// of the texts from last to first; those without one come last.
//
// A session that cannot be read hides no other: Find returns what it found
// together with an error that joins one [*Error] for each of those, which Is
// [ErrCorrupt] where a file is damaged. Sessions that come after the last of
// a Limit need not be read whole. When ctx ends, nothing is found.
func (p *Projects) Find(ctx context.Context, q Query) (found []Found, err error) {
	s := &search{projects: p, query: q}
	defer func() { err = also(err, s.close()) }()
	if q.Keyword != "" {
		s.keyword = newKeyword(q.Keyword)
	}
	all, err := s.candidates(ctx)
	if err != nil {
		return nil, wrap("find", "", err)
	}
	found, err = s.choose(ctx, newestFirst(all))
	if err != nil {
		return nil, wrap("find", "", err)
	}
	return found, errors.Join(s.failed...)
}

// search is one call of Find.
type search struct {
	projects *Projects
	query    Query
	keyword  *keyword // nil: any
	shelves  []*sessiondir.Shelf
	failed   []error // what could not be read
}

// candidate is a session that may be found.
type candidate struct {
	Found
	shelf *sessiondir.Shelf // where it stands
	name  string            // of its directory
	place int               // among all, by project and name
	timed bool              // CreatedText is a time
	ok    bool              // nothing speaks against it yet
	err   error             // it cannot be read
}

// keep returns the candidates that are ok, and takes note of the errors.
func (s *search) keep(all []*candidate) []*candidate {
	return slices.DeleteFunc(all, func(c *candidate) bool {
		if c.err != nil {
			s.failed = append(s.failed, wrap("find", c.name, c.err))
		}
		return c.err != nil || !c.ok
	})
}

// metadataRoom is more than metadata usually takes.
const metadataRoom = 16 << 10

// candidates returns the sessions of which the metadata fits the query, by
// project and name.
func (s *search) candidates(ctx context.Context) ([]*candidate, error) {
	slugs, err := s.slugs(ctx)
	if err != nil {
		return nil, err
	}
	var all []*candidate
	for _, slug := range slugs {
		some, err := s.open(slug)
		if err != nil {
			s.failed = append(s.failed, wrap("find", "", err))
		}
		all = append(all, some...)
	}
	for i, c := range all {
		c.place = i
	}
	spread(len(all), func(next func() (int, bool)) {
		buf := make([]byte, 0, metadataRoom)
		for i, ok := next(); ok && ctx.Err() == nil; i, ok = next() {
			s.readMetadata(all[i], buf)
		}
	})
	return s.keep(all), ctx.Err()
}

func (s *search) slugs(ctx context.Context) ([]string, error) {
	slug := s.query.Project
	if slug == "" {
		return s.projects.Slugs(ctx)
	}
	if strings.ContainsAny(slug, `/\`) || slug == "." || slug == ".." {
		return nil, fmt.Errorf("invalid project name %q", slug)
	}
	if fi, err := os.Stat(s.projects.sessions(slug)); err != nil || !fi.IsDir() {
		return nil, nil
	}
	return []string{slug}, nil
}

// open opens the sessions directory of a project and returns what is in it.
func (s *search) open(slug string) ([]*candidate, error) {
	shelf, err := sessiondir.OpenShelf(s.projects.sessions(slug))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s.shelves = append(s.shelves, shelf)
	names, err := shelf.Names()
	all := make([]candidate, len(names))
	some := make([]*candidate, len(names))
	for i, name := range names {
		all[i] = candidate{Found: Found{Project: slug}, shelf: shelf, name: name}
		some[i] = &all[i]
	}
	return some, err
}

func (s *search) close() error {
	var errs []error
	for _, shelf := range s.shelves {
		errs = append(errs, shelf.Close())
	}
	return wrap("find", "", errors.Join(errs...))
}

// batch is how many transcripts are looked through before Match is asked, as
// the rest may lie beyond the limit.
const batch = 64

// choose returns the candidates that the rest of the query lets through, up
// to its limit.
func (s *search) choose(ctx context.Context, all []*candidate) (found []Found, err error) {
	size := batch
	if s.query.Limit <= 0 {
		size = max(1, len(all))
	}
	for some := range slices.Chunk(all, size) {
		if s.keyword != nil {
			if some, err = s.holding(ctx, some); err != nil {
				return nil, err
			}
		}
		if found == nil && len(some) > 0 {
			found = make([]Found, 0, len(some))
		}
		for _, c := range some {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if !s.matches(ctx, c) {
				continue
			}
			c.Dir = c.shelf.Path(c.name)
			found = append(found, c.Found)
			if len(found) == s.query.Limit {
				return found, nil
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// holding returns the candidates of which the transcript holds the keyword.
func (s *search) holding(ctx context.Context, some []*candidate) ([]*candidate, error) {
	spread(len(some), func(next func() (int, bool)) {
		r := s.keyword.reading()
		for i, ok := next(); ok && ctx.Err() == nil; i, ok = next() {
			some[i].ok, some[i].err = r.inSession(ctx, some[i].shelf, some[i].name)
		}
	})
	return s.keep(some), ctx.Err()
}

// matches asks Match.
func (s *search) matches(ctx context.Context, c *candidate) bool {
	if s.query.Match == nil {
		return true
	}
	st, err := s.projects.Store(c.Project)
	ok := false
	if err == nil {
		ok, err = s.query.Match(ctx, st, c.name)
	}
	if err != nil {
		s.failed = append(s.failed, wrap("find", c.name, err))
	}
	return ok && err == nil
}

// spread runs worker on all processors; next hands out the numbers below n.
func spread(n int, worker func(next func() (int, bool))) {
	var (
		taken atomic.Int64
		group sync.WaitGroup
	)
	next := func() (int, bool) {
		i := int(taken.Add(1)) - 1
		return i, i < n
	}
	for range min(n, runtime.GOMAXPROCS(0)) {
		group.Go(func() { worker(next) })
	}
	group.Wait()
}
