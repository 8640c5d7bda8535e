package projects

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/store/sessioncost"
)

// Usage is the usage of a response of a model in one session. Its method Add sums up
// several.
type Usage struct {
	Project, Session string // as [Projects.Store] and [sessionstore.Store] take them
	eventslog.Usage
}

// Usage yields the usage of each response of a model in the sessions that q describes, by
// session; see [eventslog.Log.Usage]. The session that was created first comes first,
// sessions without a readable time after all others. An unreadable session or project
// hides no other: after all others comes one row with an error for each session, and for
// each project, that could not be read, which has only Project and Session. An error
// without either comes last.
//
// A response counts once over all of these sessions: in the first session whose log has
// it, so in the parent and not in its forks. When q leaves out the parent, a fork may
// count the responses that it inherits. Usage reads one log of each session, the same as
// the Python tools: the log of its directory context-intelligence, wherever that lies, or
// else its events.jsonl. When q sets nothing but Project, After and Before, sessions
// without metadata count, too.
//
// q.After and q.Before are for the time of a response here. With q.After, sessions whose
// log has not changed since then are not read. A response without a time is always
// yielded.
//
// The set of counted responses and calls of tools takes some 40 bytes of memory for each.
func (p *Projects) Usage(ctx context.Context, q Query) iter.Seq2[Usage, error] {
	return func(yield func(Usage, error) bool) {
		within := q
		q.After, q.Before = time.Time{}, time.Time{}
		if !within.After.IsZero() {
			q.Skip = func(dir string) bool {
				return within.Skip != nil && within.Skip(dir) || unchanged(dir, within.After)
			}
		}
		s := &search{projects: p, query: q}
		found, ended := s.run(ctx)
		failed, ended := s.failed, core.Wrap("find", "", ended)
		slices.SortStableFunc(found, byCreation)
		if ended == nil && q.Keyword == "" && q.Tool == "" && q.Match == nil && q.Limit <= 0 {
			var more []Found
			more, ended = s.withoutMetadata(ctx, found)
			found = append(found, more...)
		}
		counted := &eventslog.Counted{}
		for _, f := range found {
			if ctx.Err() != nil {
				break
			}
			id := filepath.Base(f.Dir)
			for u, err := range usageOf(ctx, f.Dir, counted) {
				switch {
				case err != nil:
					failed = append(failed, failure{f.Project, id, core.Wrap("sum up usage", id, err)})
				case !u.At.IsZero() && !within.spans(u.At):
				case !yield(Usage{f.Project, id, u}, nil):
					return
				}
			}
		}
		for _, f := range failed {
			if !yield(Usage{Project: f.project, Session: f.id}, f.err) {
				return
			}
		}
		if ended = cmp.Or(ended, ctx.Err()); ended != nil {
			yield(Usage{}, core.Wrap("sum up usage", "", ended))
		}
	}
}

// unchanged reports whether the log of events of the session in dir did not change since a
// time, or is missing. The clock of the file system may be a minute late.
func unchanged(dir string, since time.Time) bool {
	fi, err := os.Stat(sessioncost.LocateHere(dir).Ordinary)
	return err == nil && fi.ModTime().Add(time.Minute).Before(since) || errors.Is(err, fs.ErrNotExist)
}

// byCreation orders sessions by the time of their creation.
func byCreation(a, b Found) int {
	switch {
	case a.Created.IsZero() != b.Created.IsZero():
		if a.Created.IsZero() {
			return 1
		}
		return -1
	case !a.Created.Equal(b.Created):
		return a.Created.Compare(b.Created)
	}
	return cmp.Or(cmp.Compare(a.Project, b.Project), cmp.Compare(a.Dir, b.Dir))
}

// withoutMetadata returns the sessions that are not among those found, in the order of their
// names. They have no metadata, or none that can be read. find has already reported the
// projects that cannot be read.
func (s *search) withoutMetadata(ctx context.Context, found []Found) (more []Found, err error) {
	slugs, err := s.slugs(ctx)
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(found))
	for _, f := range found {
		known[f.Dir] = true
	}
	for _, slug := range slugs {
		entries, _ := os.ReadDir(s.projects.sessions(slug))
		for _, e := range entries {
			dir := filepath.Join(s.projects.sessions(slug), e.Name())
			if !known[dir] && !s.skips(dir) && !strings.HasPrefix(e.Name(), ".") && core.CheckID(e.Name()) == nil {
				more = append(more, Found{Project: slug, Dir: dir})
			}
		}
	}
	return more, nil
}

// usageOf yields the usage of responses in the session in dir.
func usageOf(ctx context.Context, dir string, counted *eventslog.Counted) iter.Seq2[eventslog.Usage, error] {
	return func(yield func(eventslog.Usage, error) bool) {
		path := sessioncost.LocateHere(dir).Ordinary
		if !sessioncost.IsFile(path) {
			if err := vfs.NotRegular(path); err != nil {
				yield(eventslog.Usage{}, err)
			}
			return
		}
		log, err := eventslog.Open(filepath.Dir(path), &eventslog.Options{SessionID: filepath.Base(dir)})
		if err != nil {
			yield(eventslog.Usage{}, err)
			return
		}
		for u, err := range log.Usage(ctx, counted) {
			if !yield(u, err) {
				break
			}
		}
		_ = log.Close() // nothing was written
	}
}
