package foreign

import (
	"context"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// History is one session of a tool, as its files say.
type History struct {
	Tool     Tool
	ID       string    // the tool's own id of the session
	Path     string    // of its file
	Dir      string    // working directory that the file names first; "" where its beginning names none
	Folder   string    // name of the tool's folder for the project
	Size     int64     // of the file, in bytes
	Modified time.Time // of the file
	Agents   []string  // paths of the files of its sub-agents, those that began others before these
	Title    string    // that the tool keeps elsewhere
	Parent   string    // the tool's id of the session whose sub-agent wrote the file, where that session has none

	found thread.History // further facts from Find
	notes *notes         // of the imports of all that Find found
}

// Project returns the name of the project that the history belongs to. It is the project of
// the history's working directory, with symlinks resolved where it exists, or else of the
// tool's folder. A directory that tools write in several ways is one project, on Windows
// also with another case of its drive and with the prefix of long paths. A directory does
// not count if no file system should have its name: a name with characters that a terminal
// obeys, or a name that is too long.
func (h History) Project() string { return projectName(h.Dir, h.Folder, h.found.InFolder) }

// SessionID returns the id of the session that [Import] makes of the conversation of
// a history. It is "" for the history of a sub-agent, which is no conversation of its
// own. It reads nothing, so there may be no conversation in the file, or an export of a session
// that is here, into which its turns come: that often has the id of the history.
func (h History) SessionID() string {
	if h.Parent != "" || h.found.Spawned {
		return ""
	}
	return thread.UUID5(string(h.Tool), h.ID)
}

// FindOptions control [Find]. A nil *FindOptions is the zero value.
type FindOptions struct {
	// Home is the directory of the tool. "" is the directory that [Home] returns.
	Home string

	// Since leaves out histories that were last changed before.
	Since time.Time

	// Notes is a directory in which Find notes the sessions of a tool's database, which it then does
	// not open again until that changes. "" notes nothing.
	Notes string
}

// Find lists the histories of a tool on this machine, by folder and name. It reads the
// beginning of each. Without a directory of the tool there are none. The error names the
// files and folders that could not be read; Find then returns the other histories beside
// it. The error Is [ErrTool] for another tool.
func Find(ctx context.Context, tool Tool, opts *FindOptions) ([]History, error) {
	o := FindOptions{}
	if opts != nil {
		o = *opts
	}
	home, err := Home(tool)
	if o.Home != "" && programs[string(tool)] != nil {
		home, err = o.Home, nil
	}
	var all []History
	if err == nil {
		var found []thread.History
		found, err = findNoted(ctx, programs[string(tool)], home, o.Notes)
		shared := newNotes()
		for _, h := range found {
			if !h.Modified.Before(o.Since) {
				all = append(all, History{tool, h.ID, h.Path, h.Dir, h.Folder, h.Size, h.Modified, h.Agents, h.Title, h.Parent, h, shared})
			}
		}
	}
	if err != nil {
		err = fmt.Errorf("find histories: %w", err)
	}
	return all, err
}
