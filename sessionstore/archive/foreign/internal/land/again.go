package land

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// ExportAgain writes a session as the nth further file of a tool, all of whose lines are
// made.
func ExportAgain(ctx context.Context, st *sessionstore.Store, id string, tool thread.Tool, n int, w io.Writer) (Written, error) {
	md, err := st.Metadata(ctx, id)
	if err != nil {
		return Written{}, err
	}
	done := Written{ID: thread.UUID5(tool.Name(), "export/"+id+"/again/"+strconv.Itoa(n))}
	out := newMaking(tool, done.ID, id, md, thread.WriterUntil(ctx, w))
	if err := out.lines.Begin(); err != nil {
		return done, err
	}
	for m, err := range st.Messages(ctx, id) {
		if err != nil {
			return done, err
		}
		done.Messages++
		if err := out.message(m, done.Messages); err != nil {
			return done, fmt.Errorf("message %d: %w", done.Messages, err)
		}
	}
	done.File = out.lines.File()
	return done, out.w.Flush()
}
