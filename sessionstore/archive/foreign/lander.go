package foreign

import (
	"context"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// lander makes and updates sessions of one store. A nil store means a store that does not
// exist yet, in a dry run.
type lander struct {
	p     *projects.Projects
	st    *sessionstore.Store
	tool  thread.Tool
	dry   bool
	fixed bool // the caller named the project
	done  *results
	finds func(thread.Found) error // see thread.WithFinds; nil: nobody asked

	home, place    string // the session that the history is an export of, and where it keeps the file
	origin, thread string // the session whose export the tool forked, and the tool's id of that export
}

// results are the report as it is made, and what the next import needs to know of it.
type results struct {
	Report
	notes *thread.Notes

	left, blocks map[string]int  // what of the report the next import finds again
	written      map[string]bool // the sessions that are not as they were
	asked        map[string]bool // the files of sessions that the results depend on, by path
	unsure       bool            // they depend on more
}

// merge adds the parts and lines that the rendering of a target left out, once for each
// file.
func (d *results) merge(tg target, p *plan, written bool) {
	if written {
		d.written[tg.id] = true
	}
	for kind, k := range p.notes.Blocks {
		d.Blocks[kind] += k
		if !written {
			d.blocks[kind] += k
		}
	}
	if !tg.original {
		return
	}
	for _, o := range p.r.Lines() {
		if o.Message == 0 && o.Why != thread.WhyHere {
			d.Left[o.Why]++
			if !written {
				d.left[o.Why]++
			}
		}
	}
}

// leaveFile takes all lines of a file that makes no session.
func (d *results) leaveFile(f *thread.File, why string) {
	d.Left[why] += f.Table.LinesRead
	d.left[why] += f.Table.LinesRead
}

// maxUnplaced is how many prompts in no session a report names.
const maxUnplaced = 1000

// leave takes the lines of a file that belong to none of its sessions.
func (d *results) leave(ss sessions) {
	d.Branches += ss.others
	for _, u := range ss.unplaced {
		if len(d.Unplaced) < maxUnplaced {
			d.Unplaced = append(d.Unplaced, LineError(ss.file.Told(int(ss.file.Table.Line(u.At))+1, u.Why)))
		}
	}
}

// of returns the lander of the session id: of the project that has the session, else this
// one.
func (ld *lander) of(id string) (*lander, error) {
	if ld.fixed || ld.has(id) {
		return ld, nil
	}
	slug, err := projectWith(ld.p, id)
	if err != nil || slug == "" {
		return ld, err
	}
	st, err := ld.p.Store(slug)
	return &lander{p: ld.p, st: st, tool: ld.tool, dry: ld.dry, done: ld.done, finds: ld.finds}, err
}

// has reports whether there is a session. The results depend on it, and on its state.
func (ld *lander) has(id string) bool {
	if ld.st == nil {
		return false
	}
	ld.done.asked[ld.kept(id, sessiondir.Metadata)] = true
	return core.Of(ld.st).Has(id)
}

// transcript returns the first n messages of a session, all where n is below 0.
func (ld *lander) transcript(ctx context.Context, id string, n int) (sessionstore.Revision, error) {
	c := tally{}
	for m, err := range ld.st.Messages(ctx, id) {
		if err != nil {
			return sessionstore.Revision{}, err
		}
		if c.n == n {
			break
		}
		c.add(m)
	}
	return c.revision(), nil
}

// kept returns the path of a file or folder of a session, as of the one that keeps the tool's
// file.
func (ld *lander) kept(id, place string) string {
	if ld.st == nil { // as there may be in a dry run
		return ""
	}
	return filepath.Join(ld.st.Dir(), id, place)
}
