package foreign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/vfs"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Exported tells what an export wrote.
type Exported struct {
	ID       string // the tool's id of the session
	File     string // name by which the tool finds it
	Original int64  // bytes that are the tool's own
	Messages int    // that lines were made for
}

// Export writes a session as a file of a tool. What was imported from that tool stays
// the tool's own bytes; Export makes lines for the messages after it. If imported
// messages were changed or removed here, the file still has the tool's bytes, and the
// lines after them make the conversation the one that is here. Of a session that
// another program wrote, or that an import made of a branch, Export makes all lines.
//
// The lines that are made have texts, images, calls and results, and no thinking. An
// import of the file, once the tool went on with it, brings the new turns into the session.
// The tool did not check them: this package reads them back as what they were made
// of. Of a session that the tool keeps in several files, which do not simply follow each
// other, Export makes all lines, too. The error Is [ErrTool] for another tool and [sessionstore.ErrNotFound] when
// there is no such session. Errors have no text of the session.
//
// [sessionstore.ErrNotFound]: https://pkg.go.dev/github.com/amplifier-go/sessionstorage/sessionstore#ErrNotFound
func Export(ctx context.Context, st *sessionstore.Store, id string, tool Tool, w io.Writer) (Exported, error) {
	if !isTool(tool) {
		return Exported{}, fmt.Errorf("export session: %w %q", ErrTool, tool)
	}
	done, err := export(ctx, st, id, tool, w)
	if err != nil {
		return done, fmt.Errorf("export session %q: %w", id, err)
	}
	return done, nil
}

// ExportFile is [Export] to the file name. A regular file is replaced whole and durably, and
// keeps its mode and its owner; else a new one appears whole, which only its owner may read.
// After an error the former file stands there. A symlink stays, and the file that it leads to
// is written. A FIFO, a device and the standard output are written straight. The error Is
// fs.ErrExist for a file below the store's directory.
func ExportFile(ctx context.Context, st *sessionstore.Store, id string, tool Tool, name string) (done Exported, err error) {
	err = vfs.WriteNamed(ctx, name, st.Dir(), func(w io.Writer) (err error) {
		done, err = Export(ctx, st, id, tool, w)
		return err
	})
	return done, err
}

func export(ctx context.Context, st *sessionstore.Store, id string, tool Tool, w io.Writer) (Exported, error) {
	md, err := st.Metadata(ctx, id)
	if err != nil {
		return Exported{}, err
	}
	foreign, place := exportOf(md, filepath.Join(st.Dir(), id), id, tool)
	out := newMaking(tool, foreign, id, md, contextWriter{ctx, w})
	done := Exported{ID: foreign}
	kept := 0
	h, leave := openOriginal(ctx, st, id, tool, stateIn(md, place), place)
	if h != nil {
		defer leave()
	}
	if h != nil && h.layout.isPlain() {
		if kept, err = out.continueOriginal(ctx, st, id, h, place); err != nil {
			return done, err
		}
		done.Original = h.size
	} else if err := out.lines.begin(); err != nil {
		return done, err
	}
	n := 0
	for m, err := range st.Messages(ctx, id) {
		if err != nil {
			return done, err
		}
		if n++; n <= kept {
			continue
		}
		if err := out.message(m, n); err != nil {
			return done, fmt.Errorf("message %d: %w", n, err)
		}
		done.Messages++
	}
	done.File = out.lines.file()
	return done, out.w.Flush()
}

// openOriginal opens the tool's file that a session keeps, nil where it keeps none
// of that tool.
func openOriginal(ctx context.Context, st *sessionstore.Store, id string, tool Tool, s state, place string) (h *history, leave func()) {
	if s.Tool != string(tool) {
		return nil, nil
	}
	h, leave, err := openKept(ctx, filepath.Join(st.Dir(), id, place), tool, s.ID)
	if err != nil {
		return nil, nil
	}
	return h, leave
}

// continueOriginal writes the tool's file and what joins to it. It returns how many
// messages of the session stand in it.
func (out *making) continueOriginal(ctx context.Context, st *sessionstore.Store, id string, h *history, place string) (kept int, err error) {
	s, _, err := scopeIn(filepath.Join(st.Dir(), id, place, mapFile))
	if err != nil {
		return 0, err
	}
	h.t.setScope(s)
	if err := h.findEnd(ctx); err != nil {
		return 0, err
	}
	chain := h.line(h.t.scope)
	next, stop := iter.Pull2(st.Messages(ctx, id))
	defer stop()
	whole, tg := true, target{history: h, chain: chain}
	if h.t.exported == id {
		if tg.here, err = h.findHere(ctx, st, id); err != nil {
			return 0, err
		}
	}
	r, err := tg.render(newReport(), func(m sessionstore.Message) error {
		ours, err, ok := next()
		if err != nil {
			return err
		}
		if !ok || !same(m, ours) {
			whole = false
			return errDiffers
		}
		kept++
		return nil
	})
	if err != nil && !errors.Is(err, errDiffers) {
		return 0, err
	}
	if err := h.copyTo(out.w); err != nil {
		return 0, err
	}
	if h.tool == Claude {
		out.floor = h.t.facts.last
	}
	join := int32(-1)
	if len(chain) > 0 {
		join = chain[len(chain)-1]
	}
	if !whole {
		i := len(chain) - 1
		for i >= 0 && (r.numbers[chain[i]] <= 0 || int(r.numbers[chain[i]]) > kept) {
			i--
		}
		if join = -1; i >= 0 {
			join = chain[i]
		}
		if _, err, more := next(); kept == 0 || !more && err == nil || h.tool != Claude {
			kept, join = 0, -1 // the line to go on from is no end, or there is none
		}
	}
	parent := ""
	if join >= 0 {
		parent = h.recordID(join)
	}
	return kept, out.lines.join(parent, whole)
}

// same reports whether two messages are the same to a program that writes rows anew.
func same(a, b sessionstore.Message) bool {
	x, errX := pyjson.AppendMessage(nil, a.AppendTo(nil), pyjson.Style{})
	y, errY := pyjson.AppendMessage(nil, b.AppendTo(nil), pyjson.Style{})
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// copyTo writes the file, and ends its last line.
func (h *history) copyTo(w io.Writer) error {
	n, err := io.Copy(w, io.NewSectionReader(h.file, 0, h.size))
	if err == nil && n < h.size {
		err = ErrChanged
	}
	return err
}
