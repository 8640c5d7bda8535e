package sessioncost

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/capture"
)

const (
	asked    = `{"role": "user", "content": "a"}`
	answered = `{"role": "assistant", "content": "x"}`
	reminder = `{"role": "user", "content": "r", "metadata": {"ephemeral": true}}`
	log      = `{"event": "prompt:submit", "session_id": "p", "data": {"prompt": "a"}}` + "\n" +
		`{"event": "llm:response", "session_id": "p", "data": {"usage": {"cost_usd": "0.10"}}}` + "\n"
)

func rowsOf(rows ...string) (list []Row) {
	for _, row := range rows {
		list = append(list, RowOf([]byte(row)))
	}
	return list
}

func events(t *testing.T, text string) func() (*Events, error) {
	t.Helper()
	return func() (*Events, error) { return ReadEvents(t.Context(), strings.NewReader(text), "p") }
}

// reasons returns the reasons of a boundary, none if it is verified.
func reasons(t *testing.T, raw []byte, err error) []string {
	t.Helper()
	require.NoError(t, err)
	require.NoError(t, pyjson.Check(raw, pyjson.Strict))
	b := Verify(raw)
	if b.Verified {
		return nil
	}
	require.Equal(t, "unavailable_fork_cost_boundary", b.Problems[0])
	return b.Problems[1:]
}

// TestOrdinaryBeginsAnewAtZero sums costs that begin with zeros of many places, as
// Python's (total or 0) + cost does.
func TestOrdinaryBeginsAnewAtZero(t *testing.T) {
	t.Parallel()
	for want, costs := range map[string][]string{
		"1.5":   {"0.000", "1.5"},
		"0.25":  {"0.00", "0.0000", "0.25"},
		"0E-7":  {"0.0000000"},
		"0.00":  {"0.000000", "0.00"},
		"1.500": {"1.5", "0.000"},
		"1000":  {"0.00", "1E+3"},
	} {
		text := ""
		for _, c := range costs {
			text += `{"event": "llm:response", "session_id": "p", "data": {"usage": {"cost_usd": "` + c + `"}}}` + "\n"
		}
		all, err := ReadEvents(t.Context(), strings.NewReader(text), "p")
		require.NoError(t, err)
		total, known, err := all.Ordinary()
		require.NoError(t, err)
		require.True(t, known)
		require.Equal(t, want, total.String(), "%v", costs)
	}
}

// TestRestored restores the costs of sessions from the logs in their directories.
func TestRestored(t *testing.T) {
	t.Parallel()
	dir, base := filepath.Join(t.TempDir(), "project", "sessions", "s"), t.TempDir()
	response := func(session, usd string) string {
		return `{"event": "llm:response", "session_id": ` + session + `, "data": {"usage": {"cost_usd": "` + usd + `"}}}` + "\n"
	}
	put := func(path, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	ordinary := func(base string) string {
		all, err := Open(t.Context(), Locate(dir, base, "", IsFile).Ordinary, "s")
		require.NoError(t, err)
		total, known, err := all.Ordinary()
		require.NoError(t, err)
		require.True(t, known)
		return total.String()
	}
	put(filepath.Join(dir, logName), response(`"s"`, "1")+response("null", "2"))
	require.Equal(t, "3", ordinary(""), "rows that name no session count")
	put(filepath.Join(dir, captureDir, logName), response(`"s"`, "5")+response("null", "2"))
	require.Equal(t, "7", ordinary(""), "one file counts")
	require.Equal(t, "3", ordinary(base), "the capture in the session does not count")
	put(filepath.Join(base, "project", "sessions", "s", captureDir, logName), response(`"s"`, "7"))
	require.Equal(t, "7", ordinary(base))

	all, err := Open(t.Context(), Locate(dir, "", "", IsFile).Capture, "s")
	require.NoError(t, err)
	total, problems, err := all.Fork(Verify(nil), "s")
	require.NoError(t, err)
	require.Equal(t, "5", total.String(), "of a fork, rows that name no session do not count")
	require.Equal(t, []string{"ci_unscoped_event:s", "missing_fork_cost_boundary"}, problems)
}

// TestBuildRefusesACutInsideAPrompt cuts before turns that hosts put in: where
// output follows in them, nobody knows what of the prompt's cost is behind the
// cut, also if the fork inherits that turn.
func TestBuildRefusesACutInsideAPrompt(t *testing.T) {
	t.Parallel()
	cutoff := []string{"unprovable_intra_prompt_cutoff"}
	for _, tt := range []struct {
		name string
		rest []string
		want []string
	}{
		{"nothing follows", nil, nil},
		{"no output", []string{reminder}, nil},
		{"a prompt", []string{asked, answered}, nil},
		{"output", []string{reminder, answered}, cutoff},
		{"output later", []string{reminder, reminder, answered}, cutoff},
		{"output behind a prompt", []string{reminder, `{"role": "user", "content": "b"}`, reminder, answered}, nil},
	} {
		parent := Parent{ID: "p", Rows: rowsOf(append([]string{asked, answered}, tt.rest...)...)}
		raw, err := Build(parent, rowsOf(asked, answered), 1, events(t, log))
		if tt.name == "a prompt" { // which has the same text
			require.Equal(t, []string{"missing_prompt_fence:p:1"}, reasons(t, raw, err))
			continue
		}
		require.Equal(t, tt.want, reasons(t, raw, err), tt.name)
	}
	parent := Parent{ID: "p", Rows: rowsOf(asked, answered, reminder, answered)}
	whole, err := Build(parent, parent.Rows, 2, events(t, log))
	require.Nil(t, reasons(t, whole, err))
	fork := Parent{ID: "f", Rows: parent.Rows, Forked: true, Boundary: whole}
	raw, err := Build(fork, rowsOf(asked, answered), 1, nil)
	require.Equal(t, cutoff, reasons(t, raw, err), "inherited")
	raw, err = Build(fork, parent.Rows, 2, nil)
	require.Nil(t, reasons(t, raw, err))
}

// TestBuildLimits makes boundaries of too many turns, and of too many bytes.
func TestBuildLimits(t *testing.T) {
	t.Parallel()
	many := rowsOf(strings.Split(strings.Repeat(reminder+"\n", maxTurns)+reminder, "\n")...)
	raw, err := Build(Parent{ID: "p", Rows: many}, many, maxTurns+1, nil)
	require.Equal(t, []string{tooLarge}, reasons(t, raw, err))
	many = many[1:]
	raw, err = Build(Parent{ID: "p", Rows: many}, many, maxTurns, events(t, ""))
	require.Nil(t, reasons(t, raw, err))
	long := append(rowsOf(asked), many[:3000]...)
	dear := strings.ReplaceAll(log, "0.10", "0.1000000000000000000000000000")
	raw, err = Build(Parent{ID: "p", Rows: long}, long, len(long), events(t, dear))
	require.Equal(t, []string{tooLarge}, reasons(t, raw, err))
}

// TestOpen opens logs of every kind.
func TestOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events.jsonl")
	all, err := Open(t.Context(), path, "p")
	require.NoError(t, err)
	require.Nil(t, all, "there is none")
	require.NoError(t, os.WriteFile(path, []byte(log), 0o600))
	all, err = Open(t.Context(), path, "p")
	require.NoError(t, err)
	require.Empty(t, all.findings("p"))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Open(ended, path, "p")
	require.ErrorIs(t, err, context.Canceled)
	all = &Events{codes: []capture.Code{unreadable}, foreign: true, unstable: true}
	require.Equal(t, []string{"ci_unreadable_file:p", "foreign_cost:p", "unstable_ci_capture:p"}, all.findings("p"))
}

// TestShown shows values as Python does.
func TestShown(t *testing.T) {
	t.Parallel()
	require.Equal(t, "x", shown([]byte(`"x"`)))
	require.Equal(t, "[None, True, 1.0, {'a': \"it's\"}]", shown([]byte(`[null, true, 1.0, {"a": "it's"}]`)))
}
