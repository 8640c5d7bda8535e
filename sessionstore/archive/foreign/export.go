package foreign

import (
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/land"
)

// Exported describes the file that an export wrote.
type Exported struct {
	ID       string // the tool's id of the session
	File     string // name by which the tool finds it
	Original int64  // bytes that are the tool's own
	Messages int    // that lines were made for
}

// Export writes a session as a file of a tool. Lines imported from that tool stay the
// tool's own bytes; Export makes lines for the messages after them. If imported messages
// were changed or removed here, the file still has the tool's bytes, and the lines after
// them make the conversation of the file equal to the one here. For a session that another
// program wrote, or that an import made of a branch, Export makes all lines.
//
// The lines that are made have texts, images, calls and results, and no thinking. An import
// of the file, once the tool went on with it, brings the new turns into the session. The
// tool did not check the lines: this package reads them back as the messages that they were
// made from. For a session that the tool keeps in several files, which do not simply follow
// each other, Export makes all lines, too; so it does where lines would have to follow the
// numbered lines of a newer Codex, and for a sub-agent of Claude Code. Such a file is a
// session of its own in the tool, beside the one that the tool may have.
//
// The error Is [ErrTool] for another tool and [sessionstore.ErrNotFound] when there is no
// such session. Errors have no text of the session.
//
// [sessionstore.ErrNotFound]: https://pkg.go.dev/github.com/amplifier-go/sessionstorage/sessionstore#ErrNotFound
func Export(ctx context.Context, st *sessionstore.Store, id string, tool Tool, w io.Writer) (Exported, error) {
	known := programs[string(tool)]
	if known == nil {
		return Exported{}, fmt.Errorf("export session: %w %q", ErrTool, tool)
	}
	done, err := land.Export(ctx, st, id, known, w)
	if err != nil {
		err = fmt.Errorf("export session %q: %w", id, err)
	}
	return Exported(done), err
}

// ExportFile is [Export] to the file name. A regular file is replaced whole and durably,
// and keeps its mode and its owner; else a new one appears whole, which only its owner may
// read. After an error the former file is unchanged. A symlink stays, and the file that it
// leads to is written. A FIFO, a device and the standard output are written straight. The
// error Is fs.ErrExist for a file below the store's directory.
func ExportFile(ctx context.Context, st *sessionstore.Store, id string, tool Tool, name string) (done Exported, err error) {
	err = vfs.WriteNamed(ctx, name, st.Dir(), func(w io.Writer) (err error) {
		done, err = Export(ctx, st, id, tool, w)
		return err
	})
	return done, err
}

// Longer reports whether an imported session holds more than the tool would send to a
// model: also the messages that a compaction hid from it. It is false for a session that
// was not imported.
func Longer(st *sessionstore.Store, id string) (bool, error) {
	return land.Longer(st, id)
}

// ForkActive makes a new session from an imported session that also holds the messages
// hidden by compactions. The new session holds only the messages that the tool would
// resume, and all messages added here since. "" takes a new id. The session itself does not
// change. The new one is durable when ForkActive returns, if the store promises that, and
// no import brings it up to date.
//
// The error Is [ErrActive] where the session holds no whole line, [ErrEdited] where
// messages that were imported are not there as the import made them, and
// [sessionstore.ErrNotFound] when there is no such session.
//
// [sessionstore.ErrNotFound]: https://pkg.go.dev/github.com/amplifier-go/sessionstorage/sessionstore#ErrNotFound
func ForkActive(ctx context.Context, st *sessionstore.Store, id, newID string) (string, error) {
	if newID == "" {
		newID = sessionstore.NewID()
	}
	if err := land.ForkActive(ctx, st, id, newID, programs); err != nil {
		return "", fmt.Errorf("fork session %q: %w", id, err)
	}
	return newID, nil
}

// Usage yields the usage of the imported sessions that q describes, as their tools recorded
// it, by session and model; [projects.Projects.Usage] yields the usage of other sessions
// from their logs. All usage of a session counts for the day on which it began. A response
// counts once over all of these sessions, with the session that began first: also where the
// tool copied the response into another session, as Claude Code does when it forks, resumes
// or goes on in the background. If the copies have different numbers of tokens, the largest
// count. An error comes last; a session that could not be read hides no other one.
//
// [projects.Projects.Usage]: https://pkg.go.dev/github.com/amplifier-go/sessionstorage/sessionstore#Projects.Usage
func Usage(ctx context.Context, p *projects.Projects, q projects.Query) iter.Seq2[projects.Usage, error] {
	return land.Usage(ctx, p, q, programs)
}
