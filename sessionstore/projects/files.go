package projects

import (
	"bytes"
	"context"
	"iter"
	"path/filepath"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/store/named"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// FileCall is a call of a tool that names the file of [Projects.Files].
type FileCall struct {
	Found             // the session
	Message int       // the number of the message that makes the call, from 1
	Turn    int       // the number of its turn, from 1; 0: it comes before the first turn
	Time    time.Time // of the message; zero: unknown
	Call    sessionstore.ToolCall
	Guess   bool // the path is in a command line, or in an argument that need not be a path
}

// Files yields the calls of tools whose arguments name the file at path, in the sessions that
// q describes; the order and the errors are those of [Projects.Search]. q.Limit counts the
// sessions with such a call. Paths are compared as cleaned absolute paths, and no symlink is
// followed: it does not matter whether the file exists. A relative path in a call is one in
// the directory that the call names, or else in the session's working_dir.
//
// Most transcripts without the base name of the file are skipped without being parsed.
func (p *Projects) Files(ctx context.Context, path string, q Query) iter.Seq2[FileCall, error] {
	return func(yield func(FileCall, error) bool) {
		path, err := filepath.Abs(path)
		if err != nil {
			yield(FileCall{}, core.Wrap("find file", "", err))
			return
		}
		if q.Keyword == "" {
			q.Keyword = sureIn(filepath.Base(path))
		}
		look(ctx, p, q, "find file", yield, func(f Found) FileCall { return FileCall{Found: f} }, func(ctx context.Context, st *sessionstore.Store, f Found, id string) iter.Seq2[FileCall, error] {
			return callsOf(ctx, st, f, id, path)
		})
	}
}

// sureIn returns a part of a name that stands in each row that has the name.
func sureIn(name string) string {
	return surelyStored(sessionstore.Sought{Text: name, Tools: true})
}

// callsOf yields the calls of a session that name the file at path.
func callsOf(ctx context.Context, st *sessionstore.Store, f Found, id, path string) iter.Seq2[FileCall, error] {
	return func(yield func(FileCall, error) bool) {
		md, err := st.Metadata(ctx, id)
		if err != nil {
			yield(FileCall{}, err)
			return
		}
		dir, at := md.Text("working_dir"), FileCall{Found: f}
		base, parent := []byte(sureIn(filepath.Base(path))), []byte(sureIn(filepath.Base(filepath.Dir(path))))
		if strings.Contains(dir, string(parent)) { // the session may work in that directory, and name the file alone
			parent = nil
		}
		for m, err := range st.Messages(ctx, id) {
			if err != nil {
				yield(FileCall{}, err)
				return
			}
			at.Message++
			if m.Role() == "user" && turns.ReadUser(core.From(m, "content"), false, nil).Begins {
				at.Turn++
			}
			if row := core.Row(m); !bytes.Contains(row, base) || !bytes.Contains(row, parent) {
				continue
			}
			at.Time, _ = m.Timestamp()
			for _, at.Call = range m.ToolCalls() {
				found := false
				if found, at.Guess = named.Names(at.Call.Arguments, dir, path); found && !yield(at, nil) {
					return
				}
			}
		}
	}
}
