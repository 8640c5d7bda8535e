package foreign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// RescueOptions control [Rescue]. A nil *RescueOptions is the zero value.
type RescueOptions struct {
	// Home is the directory of the tool. "" is the directory that [Home] returns.
	Home string

	// ID leaves out all sessions but the one with this id of the tool, or the only one whose
	// id begins so; the error is a [*sessionstore.AmbiguousError] where there are several. File leaves out all but the one in this file, which may be anywhere.
	ID, File string

	// DryRun writes nothing, and returns what Rescue would do.
	DryRun bool
}

// Rescued is what [Rescue] found out about one session of a tool, and what it did.
type Rescued struct {
	Tool   Tool
	ID     string  // the tool's id of the session
	Path   string  // of its file
	Faults []Fault // by line; nothing, where the session is sound

	// NewID is the tool's id of the new session, and NewPath its file: "" where there is
	// nothing to mend, or not all of it can be mended. In a dry run they are not there yet.
	NewID, NewPath string

	// Original is the copy of the file that the store keeps, and Damaged the file beside it
	// with the bytes that are in no line of the new session. They are "" in a dry run, and
	// Damaged where there are no such bytes.
	Original, Damaged string
}

// Fault is one fault of a session, and how it is mended. It has no text of the session.
type Fault struct {
	Kind   string        // torn_line, nuls, joined_lines, half_object, wrong_order, missing_parent, missing_head, refused, unreadable or several_files
	Line   int           // of the file, from 1; 0 where it is of no line
	Reason accept.Reason // where it is refused
	Mend   string        // cut, split, moved, relinked, made or an [accept.AmendKind]; "": it cannot be mended
}

// Rescue looks at the sessions of a tool, where the tool keeps them, and yields what it finds
// of each: why the tool cannot read it, or why the provider refuses it, and the smallest mend.
// Of a session with faults it makes a new one, which the tool lists and resumes: with all
// lines of the tool that have no fault, as they are but for their ids, which are new. The
// session with faults stays as it is, to the byte. Its file is copied to the bookkeeping of
// the session's project in p, which no sync sends to a remote.
//
// A new id follows from the id and the bytes of the session: what was rescued before is
// yielded again and not made again. A session that cannot be read, or of which no new one
// can be written, is yielded with an error, and the next ones follow. The error Is [ErrTool]
// for another tool. Errors have no text of a session.
func Rescue(ctx context.Context, p *projects.Projects, tool Tool, opts *RescueOptions) iter.Seq2[Rescued, error] {
	r := &rescue{p: p, tool: programs[string(tool)], knows: rescuers[tool], target: Target(tool)}
	if opts != nil {
		r.RescueOptions = *opts
	}
	return func(yield func(Rescued, error) bool) {
		fail := func(of Rescued, err error) bool {
			if err != nil {
				err = fmt.Errorf("rescue sessions of %s: %w", cmp.Or(of.Path, string(tool)), err)
			}
			return yield(of, err)
		}
		if r.knows == nil {
			fail(Rescued{Tool: tool}, ErrTool)
			return
		}
		all, failed := r.find(ctx)
		for _, h := range all {
			if ctx.Err() != nil {
				break
			}
			if done, err := r.one(ctx, h); !fail(done, err) {
				return
			}
		}
		if err := errors.Join(failed, ctx.Err()); err != nil {
			fail(Rescued{Tool: tool}, err)
		}
	}
}

// find returns the sessions that opts name. Sub-agents are no sessions that a tool resumes.
func (r *rescue) find(ctx context.Context) (of []History, failed error) {
	all, failed := Find(ctx, Tool(r.tool.Name()), &FindOptions{Home: r.Home})
	if r.Home == "" && failed == nil {
		r.Home, failed = Home(Tool(r.tool.Name()))
	}
	path := r.File
	if path != "" {
		path, _ = filepath.Abs(path)
	}
	for _, h := range all {
		at, _ := filepath.Abs(h.Path)
		if h.Parent == "" && !h.found.Spawned && strings.HasPrefix(h.ID, r.ID) && (path == "" || at == path) {
			of = append(of, h)
		}
	}
	if i := slices.IndexFunc(of, func(h History) bool { return h.ID == r.ID }); i >= 0 {
		of = of[i : i+1]
	}
	switch {
	case r.ID != "" && len(of) > 1:
		several := &sessionstore.AmbiguousError{Prefix: r.ID}
		for _, h := range of {
			several.Matches = append(several.Matches, h.ID)
		}
		return nil, several
	case len(of) > 0:
	case path != "":
		name := strings.TrimSuffix(filepath.Base(path), thread.HistorySuffix)
		of = []History{{Tool: Tool(r.tool.Name()), ID: thread.ID(name), Path: path, Folder: filepath.Base(filepath.Dir(path))}}
	case r.ID != "":
		failed = errors.Join(failed, fmt.Errorf("%q: %w", r.ID, sessionstore.ErrNotFound))
	}
	if path != "" || r.ID != "" && len(of) > 0 {
		failed = nil // it is of other sessions
	}
	return of, failed
}

// Mended reports whether the session is sound, or has faults that all can be mended.
func (r Rescued) Mended() bool {
	for _, f := range r.Faults {
		if f.Mend == "" {
			return false
		}
	}
	return true
}

// faultWords say what a fault is.
var faultWords = map[string]string{
	"torn_line":      "the line lacks its beginning or its end",
	"nuls":           "bytes of zero are in the line", // which a file system leaves after a power cut
	"joined_lines":   "several objects are on the line",
	"half_object":    "half an object stands before a whole one",
	"wrong_order":    "the line stands before the line that it follows",
	"missing_parent": "the line follows one that is in no file",
	"missing_head":   "the file does not begin with the line that says which session it is",
	"refused":        "the provider would refuse it",
	"unreadable":     "it cannot be read", // the line has more than 64 MiB, or nothing is left to resume
	"several_files":  "the session is in several files",
}

// String returns the line, the fault and its mend.
func (f Fault) String() string {
	s := cmp.Or(faultWords[f.Kind], f.Kind)
	if f.Line > 0 {
		s = fmt.Sprintf("line %d: %s", f.Line, s)
	}
	if f.Reason != "" {
		s += " (" + string(f.Reason) + ")"
	}
	if f.Mend == "" {
		return s + ": not mended"
	}
	return s + ": " + f.Mend
}
