package foreign

import (
	"context"
	"os"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// The files that an import keeps beside a conversation.
const (
	folder       = "import"
	originalFile = "original.jsonl.zst"
	mapFile      = "map.jsonl"
)

// lander makes and updates sessions of one store. A nil store is one that does not
// exist yet, in a dry run.
type lander struct {
	st  *sessionstore.Store
	dry bool
}

// has reports whether there is a session.
func (ld *lander) has(id string) bool { return ld.st != nil && core.Of(ld.st).Has(id) }

// transcript returns the first n messages of a session, all where n is below 0.
func (ld *lander) transcript(ctx context.Context, id string, n int) (sessionstore.Revision, error) {
	c := newTally()
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

// keep lets the tool's file be read where the session keeps it, if it does.
func (ld *lander) keep(h *history, id string) error {
	if ld.st == nil || h.file.kept != nil {
		return nil
	}
	kept, err := os.OpenInRoot(filepath.Join(ld.st.Dir(), id), folder+"/"+originalFile)
	if err != nil { // there is none yet: the tool's file is read
		return nil
	}
	return h.file.keep(kept, h.t.sums)
}

// kept returns the folder in which a session keeps the tool's file.
func (ld *lander) kept(id string) string { return filepath.Join(ld.st.Dir(), id, folder) }
