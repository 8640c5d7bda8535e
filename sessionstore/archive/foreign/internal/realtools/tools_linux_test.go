package realtools

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

// tool is one of the tools with a home of its own, as the test uses it.
type tool interface {
	name() foreign.Tool
	home() string                                       // that foreign.Find takes
	place(t *testing.T, file string) string             // where a file of an export belongs
	list(t *testing.T) []string                         // the ids of its sessions
	read(t *testing.T, ids []string) [][]said           // the prompts and the answers of sessions
	written(t *testing.T) []history                     // sessions that the tool writes for the test
	goOn(t *testing.T, id, prompt string) (said string) // resumes a session, and returns the answer
	asks() *model                                       // that it asks
	stop()                                              // ends what runs
}

// lab is what both tools need.
type lab struct {
	programs
	net   *network
	model *model
	work  string // the working directory of the tools
}

func newLab(t *testing.T, p programs) *lab {
	t.Helper()
	n := newNetwork(t)
	work, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	work = filepath.Join(work, "work")
	require.NoError(t, os.Mkdir(work, 0o700))
	return &lab{programs: p, net: n, model: newModel(t, n), work: work}
}

// callLimit is the longest wait for one answer of a tool.
const callLimit = 10 * time.Minute

// limited returns the context of one call of a tool.
func limited(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), callLimit)
}
