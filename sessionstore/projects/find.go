package projects

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/nfc"
	"github.com/amplifier-go/sessionstorage/internal/store/keyword"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Find returns the sessions that q describes, as the reference's session finder does:
// sub-sessions and hidden ones too, but no directory without metadata.json; backups are
// not read. The last created session comes first, by time. Among equal times, and where a
// text is no time, the order is the order of the texts from last to first; sessions
// without a text come last.
//
// A session or project that cannot be read hides no other: Find returns the sessions that
// it found together with an error. The error joins one [*sessionstore.Error] for each
// unreadable session or project, which Is [sessionstore.ErrCorrupt] where a file is
// damaged. Hidden sessions that cannot be read are not in the error. Sessions that come
// after the last of a Limit need not be read whole. When ctx ends, Find returns no
// session.
func (p *Projects) Find(ctx context.Context, q Query) (found []Found, err error) {
	found, failed, err := p.find(ctx, q)
	if err != nil {
		return nil, err
	}
	errs := make([]error, len(failed))
	for i, f := range failed {
		errs[i] = f.err
	}
	return found, errors.Join(errs...)
}

// failure is a session that could not be read, or a project when id is empty.
type failure struct {
	project, id string
	err         error
}

// find is Find, but returns the unreadable sessions and projects one by one.
func (p *Projects) find(ctx context.Context, q Query) (found []Found, failed []failure, err error) {
	s := &search{projects: p, query: q}
	found, err = s.run(ctx)
	return found, s.failed, core.Wrap("find", "", err)
}

// search is one call of Find or Search.
type search struct {
	projects *Projects
	query    Query
	keyword  *keyword.Keyword // nil: any
	dirs     []*vfs.Reader
	failed   []failure

	// hits searches a session that fits the query, and decides last; nil: the session is
	// found.
	hits func(ctx context.Context, st *sessionstore.Store, c *candidate) (bool, error)
}

// run returns the found sessions.
func (s *search) run(ctx context.Context) (found []Found, err error) {
	if err := checkContext(ctx); err != nil {
		return nil, err
	}
	if s.projects.dir == "" {
		return nil, errClosed
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if s.query.Keyword != "" {
		s.keyword = keyword.New(s.query.Keyword)
	}
	all, err := s.candidates(ctx)
	if err != nil {
		return nil, err
	}
	return s.choose(ctx, newestFirst(all))
}

// fail notes a session or project that could not be read. It ignores hidden sessions.
func (s *search) fail(project, id string, err error) {
	if !strings.HasPrefix(id, ".") {
		s.failed = append(s.failed, failure{project, id, core.Wrap("find", id, err)})
	}
}

// dropUnfit returns the candidates that are ok, and takes note of the errors.
func (s *search) dropUnfit(all []*candidate) []*candidate {
	return slices.DeleteFunc(all, func(c *candidate) bool {
		if c.err != nil {
			s.fail(c.Project, c.name, c.err)
		}
		return c.err != nil || !c.ok
	})
}

// metadataRoom is more than the usual size of metadata.
const metadataRoom = 16 << 10

// candidates returns the sessions whose metadata fits the query, by project and name.
func (s *search) candidates(ctx context.Context) ([]*candidate, error) {
	slugs, err := s.slugs(ctx)
	if err != nil {
		return nil, err
	}
	var all []*candidate
	for _, slug := range slugs {
		some, err := s.open(slug)
		if err != nil {
			s.fail(slug, "", err)
		}
		all = append(all, some...)
	}
	for i, c := range all {
		c.position = i
	}
	core.Spread(len(all), func(next func() (int, bool)) {
		buf := make([]byte, 0, metadataRoom)
		for i, ok := next(); ok && ctx.Err() == nil; i, ok = next() {
			if c := all[i]; !s.skips(c.dir.Path(c.name)) {
				readCandidate(c, &s.query, buf)
			}
		}
	})
	return s.dropUnfit(all), ctx.Err()
}

func (s *search) skips(dir string) bool { return s.query.Skip != nil && s.query.Skip(dir) }

func (s *search) slugs(ctx context.Context) ([]string, error) {
	slug := s.query.Project
	if slug == "" {
		return s.projects.Slugs(ctx)
	}
	if err := checkSlug(slug); err != nil {
		return nil, err
	}
	if ok, err := s.projects.hasSessions(slug); !ok && err == nil {
		return nil, nil
	}
	return []string{slug}, nil
}

// open opens the sessions directory of a project and returns the sessions in it.
func (s *search) open(slug string) ([]*candidate, error) {
	dir, err := vfs.OpenReader(s.projects.sessions(slug))
	if errors.Is(err, fs.ErrNotExist) {
		_, err = s.projects.hasSessions(slug)
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	s.dirs = append(s.dirs, dir)
	names, err := dir.Names()
	if errors.Is(err, fs.ErrNotExist) { // it was removed just now
		err = nil
	}
	names = slices.DeleteFunc(names, vfs.OfSystem)
	all := make([]candidate, len(names))
	some := make([]*candidate, len(names))
	for i, name := range names {
		all[i] = candidate{Found: Found{Project: slug}, dir: dir, name: name}
		some[i] = &all[i]
	}
	return some, err
}

func (s *search) close() error {
	var errs []error
	for _, dir := range s.dirs {
		errs = append(errs, dir.Close())
	}
	return core.Wrap("find", "", errors.Join(errs...))
}

// batch is the number of transcripts that are searched before Match is called, as the
// rest may lie beyond the limit.
const batch = 64

// choose returns the candidates that fit the rest of the query, up to its limit.
func (s *search) choose(ctx context.Context, all []*candidate) (found []Found, err error) {
	size := batch
	if s.query.Limit <= 0 {
		size = max(1, len(all))
	}
	for some := range slices.Chunk(all, size) {
		if s.keyword != nil {
			if some, err = s.withKeyword(ctx, some); err != nil {
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

// withKeyword returns the candidates whose transcript holds the keyword.
func (s *search) withKeyword(ctx context.Context, some []*candidate) ([]*candidate, error) {
	core.Spread(len(some), func(next func() (int, bool)) {
		r := s.keyword.Reader()
		for i, ok := next(); ok && ctx.Err() == nil; i, ok = next() {
			some[i].ok, some[i].err = containsKeyword(ctx, r, some[i].dir, some[i].name)
		}
	})
	return s.dropUnfit(some), ctx.Err()
}

// matches calls Match and hits, and reports whether both accept the session.
func (s *search) matches(ctx context.Context, c *candidate) bool {
	c.Dir = c.dir.Path(c.name)
	if s.query.Match == nil && s.hits == nil {
		return true
	}
	if c.isRemoved() { // else Store would make a directory that was removed
		return false
	}
	st, err := s.projects.Store(c.Project)
	ok := err == nil
	if ok && s.query.Match != nil {
		ok, err = s.query.Match(ctx, st, c.name)
	}
	if ok && err == nil && s.hits != nil {
		ok, err = s.hits(ctx, st, c)
	}
	if err != nil && !c.isRemoved() {
		s.fail(c.Project, c.name, err)
	}
	return ok && err == nil
}

// containsKeyword reports whether a row of the transcript of the session id holds the keyword that
// r looks for. Like the reference it reads the backup only if there is a marker: the
// transcript itself is then being written. The error is the error of ctx, or a
// [*sessionstore.CorruptError].
func containsKeyword(ctx context.Context, r *keyword.Reader, dir *vfs.Reader, id string) (found bool, err error) {
	name := sessiondir.Transcript
	if dir.Has(id, sessiondir.Marker) {
		name = sessiondir.Backup(name)
	}
	f, err := dir.Open(id, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, &sessionstore.CorruptError{Path: dir.Path(id, name), Err: vfs.Cause(err)}
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	found, err = r.Find(ctx, f)
	if err != nil {
		return false, atDamage(dir.Path(id, name), err)
	}
	return found, nil
}

// atDamage makes the error of a [keyword.Reader] an error about the file at path.
func atDamage(path string, err error) error {
	damage := (*keyword.DamageError)(nil)
	if !errors.As(err, &damage) {
		return err
	}
	return &sessionstore.CorruptError{Path: path, Line: damage.Line, Offset: damage.Offset, Err: vfs.Cause(damage.Err)}
}

// Hit is a message with a match of [Projects.Search], or with a call of [Projects.Files].
type Hit struct {
	Found // the session
	sessionstore.Hit
	Guess bool // the path is in a command line, or in an argument that need not be a path
}

// Search yields the messages that match sought, in the sessions that q describes: the
// messages of one session in their order, and the sessions in the order of
// [Projects.Find]. q.Limit counts the sessions with a match. Most transcripts without a
// Text, or without q.Keyword, are skipped without being parsed.
//
// An unreadable session or project hides no other. After all others comes one row with an
// error for each session, and for each project, that could not be read, which has only
// Project and ID. An error without either comes last.
func (p *Projects) Search(ctx context.Context, sought sessionstore.Sought, q Query) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		if sought.Regexp == nil && !utf8.ValidString(sought.Text) {
			yield(Hit{}, core.Wrap("search", "", errors.New("the text to find is not UTF-8")))
			return
		}
		sought.Tools = sought.Tools || sought.Role == "tool"
		if q.Keyword == "" && sought.Regexp == nil {
			q.Keyword = surelyStored(sought)
		}
		p.look(ctx, q, "search", yield, func(ctx context.Context, st *sessionstore.Store, c *candidate, yield func(Hit) bool) error {
			for h, err := range st.Search(ctx, c.name, sought) {
				if err != nil || !yield(Hit{Found: c.Found, Hit: h}) {
					return err
				}
			}
			return nil
		})
	}
}

// look yields what in yields for each session that q describes, and then what could not be
// read as [Projects.Search] does.
func (p *Projects) look(ctx context.Context, q Query, op string, yield func(Hit, error) bool,
	in func(ctx context.Context, st *sessionstore.Store, c *candidate, yield func(Hit) bool) error,
) {
	if err := checkContext(ctx); err != nil {
		yield(Hit{}, core.Wrap(op, "", err))
		return
	}
	within, stop := context.WithCancel(ctx)
	defer stop()
	more := true
	s := &search{projects: p, query: q, hits: func(ctx context.Context, st *sessionstore.Store, c *candidate) (found bool, err error) {
		err = in(ctx, st, c, func(h Hit) bool {
			found = true
			if more = yield(h, nil); !more {
				stop()
			}
			return more
		})
		return found, err
	}}
	_, err := s.run(within)
	if !more {
		return
	}
	for _, f := range s.failed {
		if !yield(Hit{Found: Found{Project: f.project, ID: f.id}}, f.err) {
			return
		}
	}
	if err != nil {
		yield(Hit{}, core.Wrap(op, "", err))
	}
}

// surelyStored returns the longest part of a text that stands in each row in which the text
// may be found, as the row is stored, but for the case of letters; "" if the text has no such
// part. Quotes, backslashes and control characters have escapes there. A text may begin in one
// block of a message, or in the name of a tool, and end in another; and arguments that are
// stored as a string may escape what they like, so only plain characters are sure there. A
// letter with an accent may be stored composed or decomposed.
func surelyStored(sought sessionstore.Sought) (longest string) {
	sure := isSure
	text := nfc.String(sought.Text)
	if sought.Tools || text != sought.Text {
		sure = isPlain
	}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return !sure(r) || !nfc.Steady(r) }) {
		if sought.Tools && strings.Trim(part, "0123456789.eE-") == "" { // a number may be stored in another form
			continue
		}
		if len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

// isSure reports whether r has no escape in the strings of a row, and the same lower case as
// each letter that a search takes for r.
func isSure(r rune) bool {
	for other := unicode.SimpleFold(r); r >= utf8.RuneSelf && other != r; other = unicode.SimpleFold(other) {
		if unicode.ToLower(other) != unicode.ToLower(r) {
			return false
		}
	}
	return r >= ' ' && r != '"' && r != '\\' && r != utf8.RuneError
}

// isPlain reports whether r is a letter or digit of ASCII, or one of the signs that no
// encoder of JSON escapes.
func isPlain(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-.", r)
}
