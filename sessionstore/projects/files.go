package projects

import (
	"bytes"
	"context"
	"iter"
	"path/filepath"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/store/keyword"
	"github.com/amplifier-go/sessionstorage/internal/store/named"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Files yields the calls of tools whose arguments name the file at path, in the sessions that
// q describes: Text is the name of the tool, and After the beginning of the arguments. The order
// and the errors are those of [Projects.Search]. q.Limit counts the sessions with such a call. Paths are compared as cleaned absolute paths, and no symlink is
// followed: it does not matter whether the file exists. A relative path in a call is one in
// the directory that the call names, or else in the session's working_dir.
//
// Most transcripts without the base name of the file are skipped without being parsed, and so
// are most without the name of its directory, unless the session worked there.
func (p *Projects) Files(ctx context.Context, path string, q Query) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		path, err := filepath.Abs(path)
		if err != nil {
			yield(Hit{}, core.Wrap("find file", "", err))
			return
		}
		if q.Keyword == "" {
			q.Keyword = sureIn(filepath.Base(path))
		}
		p.look(ctx, q, "find file", yield, func(ctx context.Context, st *sessionstore.Store, c *candidate, yield func(Hit) bool) error {
			return callsOf(ctx, st, c, path, yield)
		})
	}
}

// shownArguments is how many bytes of the arguments of a call are in its hit.
const shownArguments = 240

// sureIn returns a part of a name that stands in each row that has the name.
func sureIn(name string) string {
	return surelyStored(sessionstore.Sought{Text: name, Tools: true})
}

// callsOf yields the calls of a session that name the file at path.
func callsOf(ctx context.Context, st *sessionstore.Store, c *candidate, path string, yield func(Hit) bool) error {
	md, err := st.Metadata(ctx, c.name)
	if err != nil {
		return err
	}
	dir, at := md.Text("working_dir"), Hit{Found: c.Found, Hit: sessionstore.Hit{Role: "assistant"}}
	base, parent := sureIn(filepath.Base(path)), sureIn(filepath.Base(filepath.Dir(path)))
	if strings.Contains(dir, parent) { // the session may work in that directory, and name the file alone
		parent = ""
	} else if found, err := containsKeyword(ctx, keyword.New(parent).Reader(), c.dir, c.name); !found {
		return err
	}
	for m, err := range st.Messages(ctx, c.name) {
		if err != nil {
			return err
		}
		at.Message++
		if m.Role() == "user" && turns.ReadUser(core.From(m, "content"), false, nil).Begins {
			at.Turn++
		}
		if row := core.Row(m); !bytes.Contains(row, []byte(base)) || !bytes.Contains(row, []byte(parent)) {
			continue
		}
		at.Time, _ = m.Timestamp()
		for _, call := range m.ToolCalls() {
			found := false
			found, at.Guess = named.Names(call.Arguments, dir, path)
			at.Text, at.After = call.Name, " "+limits.Cut(string(call.Arguments), shownArguments)
			if found && !yield(at) {
				return nil
			}
		}
	}
	return nil
}
