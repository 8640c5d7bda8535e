package conformance

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/sessioncost"
)

// boundaryRunner runs the cases about what a fork inherits.
func boundaryRunner() runner {
	return byKind(map[string]runner{
		"build": of(buildCase.run), "verify": of(verifyCase.run), "fingerprint": of(fingerprintCase.run, "hashed"),
	})
}

// buildCase makes the boundary of a fork.
type buildCase struct {
	ParentID string `json:"parent_id"`
	Parent   string `json:"parent_messages_json"`
	Metadata string `json:"parent_metadata_json"`
	Turn     int    `json:"fork_turn"`
	Child    string `json:"child_messages_json"`
	Files    files
	Base     *string `json:"env_base_path"`
	Expected string  `json:"expected_json"`
	Error    *failure
}

type built struct {
	Boundary string
	Failed   bool
}

func (c buildCase) run(t *testing.T) verdict {
	p := newProjects(t)
	p.put(t, c.Files)
	base := ""
	if c.Base != nil {
		base = *c.Base
	}
	md := parseObject(c.Metadata)
	parent := sessioncost.Parent{ID: c.ParentID, Rows: rawRows(c.Parent), Forked: md.index("forked_from_turn") >= 0}
	if md.index(sessioncost.Member) >= 0 {
		parent.Boundary = []byte(md.get(sessioncost.Member))
	}
	path := p.locate(t, c.ParentID, base).Capture
	raw, err := sessioncost.Build(parent, rawRows(c.Child), c.Turn, func() (*sessioncost.Events, error) {
		return sessioncost.Open(t.Context(), path, c.ParentID)
	})
	ours := built{Failed: err != nil}
	if err == nil {
		ours.Boundary = ascii(t, raw)
	}
	return equal(built{Boundary: p.at(c.Expected), Failed: c.Error != nil}, ours)
}

// verifyCase reads a boundary.
type verifyCase struct {
	Metadata string `json:"metadata_json"`
	Totals   []string
	Turns    int
	Errors   []string
}

type verifiedOutcome struct {
	Totals []string
	Turns  int
	Errors []string
}

func (c verifyCase) run(t *testing.T) verdict {
	raw, _ := pyjson.Lookup([]byte(c.Metadata), sessioncost.Member)
	b := sessioncost.Verify(raw)
	ours := verifiedOutcome{Turns: len(b.Totals), Errors: append([]string{}, b.Problems...)}
	if b.Verified {
		ours.Totals = []string{}
	}
	for _, total := range b.Totals {
		ours.Totals = append(ours.Totals, total.String())
	}
	require.Equal(t, b.Verified, len(b.Problems) == 0)
	return equal(verifiedOutcome{c.Totals, c.Turns, c.Errors}, ours)
}

// fingerprintCase hashes the beginning of a conversation.
type fingerprintCase struct {
	Messages    string `json:"messages_json"`
	Turns       int
	Fingerprint *string
}

func (c fingerprintCase) run(*testing.T) verdict {
	var ours *string
	if hash, ok := sessioncost.Fingerprint(rawRows(c.Messages), c.Turns); ok {
		ours = &hash
	}
	return equal(c.Fingerprint, ours)
}
