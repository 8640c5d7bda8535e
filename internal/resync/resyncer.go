package resync

import (
	"errors"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/gc"
	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/jitter"
)

// Rules are rules of redaction. Line may return the line itself.
type Rules interface {
	Version() string
	Line(line []byte) []byte
}

// Resyncer writes sessions anew. It is for one call of [Resyncer.Resync] or
// [Resyncer.Forecast].
type Resyncer struct {
	*gc.Project
	Rules  Rules
	Writer head.Writer
	Random *jitter.Source
	// Allowed returns why sessions with that head must not be written anew under Rules.
	Allowed func(t *head.Head) error

	cap   int             // of a segment, after a refusal for its size; 0: the default
	cost  *Cost           // what Forecast counts; nil: Resync
	sizes *recorder       // what Forecast has read
	kept  map[string]bool // ids of documents that stay
}

// maxRounds is how often Resync begins again when others change a head.
const maxRounds = 5

// minCap is the least that a segment is cut to.
const minCap = 128 << 10

// errTooBig tells that the account refused a document for its size.
var errTooBig = errors.New("a document is too large for the account")

// isNew reports whether all lines that a head leads to went through that version of the
// rules. Of former heads in documents of their own, and of branches, the session tells.
func isNew(t *head.Head, version string) bool {
	if t.Anew.Rules != version || !t.Transcript.Through(version) {
		return false
	}
	for _, e := range t.Logs {
		if !e.Through(version) {
			return false
		}
	}
	return !slices.ContainsFunc(t.Old, func(o head.Old) bool { return !formerIsNew(o, version) })
}

// formerIsNew reports whether the lines of a former head went through that version.
func formerIsNew(o head.Old, version string) bool {
	return head.Extent{N: o.N, Rules: o.Rules}.Through(version)
}
