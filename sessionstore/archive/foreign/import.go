package foreign

import (
	"context"
	"fmt"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/land"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// Options control [Import]. A nil *Options is the zero value.
type Options struct {
	// Project is the name of the project that the sessions come into. "" takes
	// [History.Project].
	Project string

	// ActiveOnly makes a new session only of the messages that the tool would resume: the
	// messages before the last compaction become a fork. A session that was imported before
	// keeps the way in which it was made.
	ActiveOnly bool

	// DryRun writes nothing, and reports the changes that Import would make.
	DryRun bool
}

// Import makes sessions of a history, or brings those up to date that an earlier
// import made; see the package's comment. Each is durable when Import returns, if
// the stores promise that, and those that the report names are there beside an
// error as well.
//
// The file is read up to the size that it has at the beginning, so the tool may go on
// writing. The error Is [ErrEmpty] when there is no conversation in it, [ErrChanged] when
// the part up to that size changed, [ErrWhole] when Options.ActiveOnly is set for a session
// that holds the whole line, [ErrTool] for another tool, and [sessionstore.ErrLocked] when
// a host runs the session. Errors have no text of the history.
//
// [sessionstore.ErrLocked]: https://pkg.go.dev/github.com/amplifier-go/sessionstorage/sessionstore#ErrLocked
func Import(ctx context.Context, p *projects.Projects, h History, opts *Options) (*Report, error) {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	done := &land.Results{Notes: thread.NewNotes(), Left: map[string]int{}, Former: map[string]int{}, Home: map[string]int{}}
	tool := programs[string(h.Tool)]
	if tool == nil {
		return reportOf(done), fmt.Errorf("import history: %w %q", ErrTool, h.Tool)
	}
	found := h.found
	found.ID, found.Path, found.Dir, found.Folder = h.ID, h.Path, h.Dir, h.Folder
	found.Size, found.Modified, found.Agents, found.Title, found.Parent = h.Size, h.Modified, h.Agents, h.Title, h.Parent
	err := land.Import(ctx, p, found, tool, land.Options(o), done)
	if err != nil {
		err = fmt.Errorf("import %s: %w", h.Path, lineErrors{err})
	}
	return reportOf(done), err
}

// reportOf returns the report for users.
func reportOf(d *land.Results) *Report {
	r := &Report{
		Project: d.Project, Lines: d.Notes.Lines, Left: d.Left, Blocks: d.Notes.Blocks, Unknown: d.Notes.Names,
		Branches: d.Branches, Former: d.Former, Home: d.Home,
	}
	for _, s := range d.Sessions {
		r.Sessions = append(r.Sessions, Imported{s.ID, Kind(s.Kind), Action(s.Action), s.Messages})
	}
	for _, e := range d.Notes.Damaged {
		r.Damaged = append(r.Damaged, LineError(e))
	}
	for _, e := range d.Unplaced {
		r.Unplaced = append(r.Unplaced, LineError(e))
	}
	for _, c := range d.Counts {
		if row, err := pyjson.Encode(c); err == nil { // it has nothing that JSON cannot hold
			r.Counts = append(r.Counts, row)
		}
	}
	return r
}
