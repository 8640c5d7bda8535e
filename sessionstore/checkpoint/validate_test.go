package checkpoint

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

func TestExampleLoads(t *testing.T) {
	t.Parallel()
	require.Equal(t, report{}, validate([]byte(example(t))))
}

func TestEveryViolationHasItsPointer(t *testing.T) {
	t.Parallel()
	r := validate([]byte(`{"version": "3.0", "session_id": "x", "status": "done", "current_phase": 8,
		"last_updated": "2026-02-04T15:02:45.123456",
		"completed_phases": [0, "1", 9], "user_approvals": {"phase_3": {"approved": 1, "timestamp": "noon"}, "phase_5": 1},
		"config": {"num_chapters": 2}, "outputs": {"analyses": [null], "notebook_review": null, "audience_documents": []},
		"user_context": {"biological_context": {"a/b~c": 1, "d": null}}, "errors": {}, "agent_execution_log": [{"status": "ok"}]}`))
	var got []string
	for _, v := range r.Violations {
		got = append(got, v.String())
	}
	require.Equal(t, []string{
		"/created_at: missing",
		"/version: unknown value",
		"/session_id: want ^session-[0-9]{8}-[0-9]{6}-[0-9]+$",
		"/status: unknown value",
		"/current_phase: want 0 to 7",
		"/completed_phases/1: want integer",
		"/completed_phases/2: want 0 to 7",
		"/user_approvals/phase_3/approved: want boolean",
		"/user_approvals/phase_3/timestamp: want date-time",
		"/config/num_chapters: want 3 to 7",
		"/outputs/analyses/0: want string",
		"/outputs/audience_documents: want object",
		"/user_context/biological_context/a~1b~0c: want string",
		"/errors: want array",
		"/agent_execution_log/0/status: unknown value",
	}, got)
	require.Equal(t, []Violation{{"/last_updated", "time without zone"}}, r.Warnings)
	require.Equal(t, []Violation{{"", "not JSON"}}, validate([]byte("{")).Violations)
	require.Equal(t, []Violation{{"", "want object"}}, validate([]byte("[]")).Violations)
}

// TestValidatorAgreesWithTheSchema changes the example at random places, and
// compares with a validator of JSON Schema which of the documents are valid and
// where the invalid ones are wrong.
func TestValidatorAgreesWithTheSchema(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	seed := testenv.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	valid := 0
	n := testenv.Share(1000, 1000, 3000)
	for i := range n {
		var doc any
		require.NoError(t, json.Unmarshal([]byte(example(t)), &doc))
		for range 1 + rnd.IntN(3) {
			doc = mutate(rnd, doc)
		}
		raw, err := json.Marshal(doc)
		require.NoError(t, err)
		again, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
		require.NoError(t, err)
		want := s.Validate(again) == nil
		got := validate(raw)
		if want {
			valid++
		}
		require.Equal(t, want, len(got.Violations) == 0, "seed %d document %d: %v\n%s", seed, i, got.Violations, raw)
	}
	require.Greater(t, valid, n/10)
	require.Less(t, valid, n*9/10)
}

func compiled(t testing.TB) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile("testdata/schema.json")
	require.NoError(t, err)
	return s
}

// FuzzValidate compares with a validator of JSON Schema which documents are
// valid, of those that are JSON without members of equal names.
func FuzzValidate(f *testing.F) {
	schema := compiled(f)
	example, err := os.ReadFile("testdata/example.json")
	require.NoError(f, err)
	f.Add(example)
	f.Add([]byte(`{"version": "2.1", "session_id": "session-20260204-143022-1", "created_at": "2026-02-04T14:30:22", "status": "error", "current_phase": 7}`))
	f.Add([]byte(`{"version": "2.1", "outputs": {"analyses": [null]}, "errors": [{"phase": 1.0}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got := validate(raw)
		require.Equal(t, got, validate(raw))
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil || !json.Valid(raw) || !utf8.Valid(raw) || ambiguous(raw) {
			return
		}
		require.Equal(t, schema.Validate(doc) == nil, len(got.Violations) == 0, "%v", got.Violations)
	})
}

// ambiguous reports whether raw has a member twice.
func ambiguous(raw []byte) bool {
	d := json.NewDecoder(bytes.NewReader(raw))
	var open []map[string]bool // of the objects and arrays around; nil: an array
	key := false
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		switch token := token.(type) {
		case json.Delim:
			switch token {
			case '{':
				open, key = append(open, map[string]bool{}), true
				continue
			case '[':
				open, key = append(open, nil), false
				continue
			}
			open = open[:len(open)-1]
		case string:
			if key {
				if open[len(open)-1][token] {
					return true
				}
				open[len(open)-1][token] = true
				key = false
				continue
			}
		}
		key = len(open) > 0 && open[len(open)-1] != nil
	}
}

// mutate replaces, removes or adds a value somewhere in v.
func mutate(rnd *rand.Rand, v any) any {
	if rnd.IntN(5) == 0 {
		return values()[rnd.IntN(len(values()))]
	}
	switch v := v.(type) {
	case map[string]any:
		names := []string{"feedback", "resolution", "num_chapters", "audience_documents", "researcher_plan", "unknown", "phase_4"}
		for name := range v {
			names = append(names, name)
		}
		name := names[rnd.IntN(len(names))]
		if rnd.IntN(6) == 0 {
			delete(v, name)
		} else {
			v[name] = mutate(rnd, v[name])
		}
		return v
	case []any:
		if len(v) == 0 || rnd.IntN(4) == 0 {
			return append(v, values()[rnd.IntN(len(values()))])
		}
		i := rnd.IntN(len(v))
		v[i] = mutate(rnd, v[i])
		return v
	}
	return values()[rnd.IntN(len(values()))]
}

func values() []any {
	return []any{
		nil, true, false, 0, 3, 7, 8, -1, 2.5, 4.0, json.Number("5.0"), "", "x", "completed", "success", "2.1", "1.0", "9",
		"session-20260204-143022-1", "session-2026-1-1", "2026-02-04T14:30:22Z", "2026-02-04T14:30:22.5+02:00",
		"2026-02-04T14:30:22.123456", "2026-02-04", "2026-02-04 14:30:22", "2026-02-04T14:30:22.Z",
		[]any{},
		[]any{"a"},
		[]any{1},
		map[string]any{},
		map[string]any{"approved": true},
		map[string]any{"timestamp": "x"},
	}
}

// The rules of a state are made once in a program: a change of a state asks for them three
// times.
func TestSchemaIsMadeOnce(t *testing.T) {
	t.Parallel()
	require.Same(t, schema(), schema())
}
