package foreign

import (
	"context"
	"fmt"
	"io"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/land"
)

// ExportAgain is [Export] under a further id of the tool, which follows from the id of the
// session and from n: for a session whose export the tool continued while the session went
// on, too, so that the file of the first export cannot hold both. Export makes all lines
// then. An import of the file, once the tool went on with it, makes a session of its own,
// whose parent is the session.
func ExportAgain(ctx context.Context, st *sessionstore.Store, id string, tool Tool, n int, w io.Writer) (Exported, error) {
	known := programs[string(tool)]
	if known == nil {
		return Exported{}, fmt.Errorf("export session: %w %q", ErrTool, tool)
	}
	done, err := land.ExportAgain(ctx, st, id, known, n, w)
	if err != nil {
		err = fmt.Errorf("export session %q: %w", id, err)
	}
	return Exported(done), err
}
