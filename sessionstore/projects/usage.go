package projects

import (
	"cmp"
	"context"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/store/sessioncost"
)

// Usage is the use of one model on one day in one session. Its method Add sums up
// several.
type Usage struct {
	Project, Session string // as [Projects.Store] and [sessionstore.Store] take them
	eventslog.Usage
}

// Usage yields the use of models in the sessions that q describes, by session, day,
// provider and model. The session that was created first comes first, sessions without a
// readable time after all others. An unreadable session or project hides no other: after
// all others comes one row with an error for each session, and for each project, that
// could not be read, which has only Project and Session. An error without either comes
// last.
//
// A response counts once over all of these sessions, as in [eventslog.Log.Usage]: in the
// first session whose log has it, so in the parent and not in its forks. When q leaves
// out the parent, a fork may count the responses that it inherits. Usage reads one log of
// each session, the same as the Python tools: the log of its directory
// context-intelligence, wherever that lies, or else its events.jsonl. When q sets nothing
// but Project and Days, sessions without metadata count, too.
//
// All logs are read. The set of counted responses and calls of tools takes some 40 bytes
// of memory for each.
func (p *Projects) Usage(ctx context.Context, q Query) iter.Seq2[Usage, error] {
	return func(yield func(Usage, error) bool) {
		found, failed, ended := p.find(ctx, q)
		slices.SortStableFunc(found, byCreation)
		if ended == nil && q.After.IsZero() && q.Before.IsZero() && q.Keyword == "" && q.Match == nil && q.Limit <= 0 {
			var more []Found
			more, ended = p.undescribed(ctx, q.Project, found)
			found = append(found, more...)
		}
		o := &eventslog.UsageOptions{Days: q.Days, Counted: &eventslog.Counted{}}
		for _, f := range found {
			for u, err := range usageOf(ctx, f.Dir, o) {
				if ctx.Err() != nil {
					break
				}
				if err != nil {
					id := filepath.Base(f.Dir)
					failed = append(failed, unfound{f.Project, id, wrap("sum up usage", id, err)})
				} else if !yield(Usage{f.Project, filepath.Base(f.Dir), u}, nil) {
					return
				}
			}
			if ctx.Err() != nil {
				break
			}
		}
		for _, f := range failed {
			if !yield(Usage{Project: f.project, Session: f.id}, f.err) {
				return
			}
		}
		if ended = cmp.Or(ended, ctx.Err()); ended != nil {
			yield(Usage{}, wrap("sum up usage", "", ended))
		}
	}
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

// undescribed returns the sessions that are not among those found, in the order of their
// names. They have no metadata, or none that can be read. find has already reported the
// projects that cannot be read.
func (p *Projects) undescribed(ctx context.Context, project string, found []Found) (more []Found, err error) {
	slugs := []string{project}
	if project == "" {
		if slugs, err = p.Slugs(ctx); err != nil {
			return nil, err
		}
	}
	known := make(map[string]bool, len(found))
	for _, f := range found {
		known[f.Dir] = true
	}
	for _, slug := range slugs {
		entries, _ := os.ReadDir(p.sessions(slug))
		for _, e := range entries {
			dir := filepath.Join(p.sessions(slug), e.Name())
			if !known[dir] && !strings.HasPrefix(e.Name(), ".") && core.CheckID(e.Name()) == nil {
				more = append(more, Found{Project: slug, Dir: dir})
			}
		}
	}
	return more, nil
}

// usageOf yields the use of models in the session in dir.
func usageOf(ctx context.Context, dir string, o *eventslog.UsageOptions) iter.Seq2[eventslog.Usage, error] {
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
		for u, err := range log.Usage(ctx, o) {
			if !yield(u, err) {
				break
			}
		}
		_ = log.Close() // nothing was written
	}
}
