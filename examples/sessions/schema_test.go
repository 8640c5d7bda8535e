package main

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// answers compiles the schema of --json=v1.
func answers() (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	return c.Compile("testdata/json.v1.schema.json")
}

// valid checks that stdout of the last program is one answer of --json=v1, as the
// schema describes it: a result or an error of the command that the words name.
func valid(schema *jsonschema.Schema) func(ts *testscript.TestScript, neg bool, args []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 2 || args[0] != "result" && args[0] != "error" {
			ts.Fatalf("usage: valid result|error COMMAND...")
		}
		answer, err := jsonschema.UnmarshalJSON(strings.NewReader(ts.ReadFile("stdout")))
		ts.Check(err)
		ts.Check(schema.Validate(answer))
		members := answer.(map[string]any)
		command, named := members["command"].(string)
		if !named {
			command = "null"
		}
		if command != strings.Join(args[1:], " ") || members[args[0]] == nil {
			ts.Fatalf("not the %s of %v: %v", args[0], args[1:], members["command"])
		}
	}
}

// TestSchemaRefuses has answers that the schema must not take.
func TestSchemaRefuses(t *testing.T) {
	t.Parallel()
	schema, err := answers()
	require.NoError(t, err)
	good := `{"version": 1, "command": "secrets", "result": {"session_id": "a", "secrets": [{"line": 1, "role": "user", "kind": "token"}]}}`
	for _, change := range [][2]string{
		{"", ""}, // the good one
		{`1, "command"`, `2, "command"`},
		{`"secrets", "result"`, `"secret", "result"`},
		{`"line": 1`, `"line": "1"`},
		{`"session_id": "a", `, ``},
		{`"kind"`, `"sort"`},
		{`"result"`, `"error"`},
		{`"secrets", "result"`, `"tail", "result"`}, // which has errors alone
		{`"secrets", "result"`, `null, "result"`},
		{`"result"`, `"error": {"message": "x", "candidates": []}, "result"`},
	} {
		answer, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.Replace(good, change[0], change[1], 1)))
		require.NoError(t, err)
		require.Equal(t, change[0] == "", schema.Validate(answer) == nil, change)
	}
}
