package main

import (
	"net/url"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// answers compiles the schema of --json, or the part of it that a command has.
func answers(of string) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	place := "testdata/json.schema.json"
	if of != "" {
		place += "#/$defs/" + url.PathEscape(of)
	}
	return c.Compile(place)
}

// valid checks that stdout of the last program is one answer of --json, or several with a
// line each, as the schema describes it: a result of the command that the words name, or an
// error.
func valid(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || args[0] != "result" && args[0] != "lines" && args[0] != "error" {
		ts.Fatalf("usage: valid result|lines|error COMMAND...")
	}
	of := strings.Join(args[1:], " ")
	if args[0] == "error" {
		of = args[0]
	}
	all, err := answers("")
	ts.Check(err)
	schema, err := answers(of)
	ts.Check(err)
	texts := []string{ts.ReadFile("stdout")}
	if args[0] == "lines" {
		texts = strings.Split(strings.TrimSuffix(texts[0], "\n"), "\n")
	}
	for _, text := range texts {
		answer, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		ts.Check(err)
		ts.Check(all.Validate(answer))
		ts.Check(schema.Validate(answer))
	}
}

// TestSchemaRefuses has answers that the schema must not take.
func TestSchemaRefuses(t *testing.T) {
	t.Parallel()
	for of, answer := range map[string]string{
		"secrets": `{"session_id": "a", "secrets": [{"line": 1, "role": "user", "kind": "token"}]}`,
		"error":   `{"error": "x", "candidates": [{"session_id": "a", "project": "p", "title": "", "modified": null}]}`,
		"show":    `{"session_id": "a", "draft": {"prompt": 1, "text": "", "thinking": ""}}`,
	} {
		schema, err := answers(of)
		require.NoError(t, err)
		for _, change := range [][2]string{
			{"", ""}, // the good one
			{`"line": 1`, `"line": "1"`},
			{`"session_id": "a"`, `"session": "a"`},
			{`"kind"`, `"sort"`},
			{`"error"`, `"message"`},
			{`null`, `"yesterday"`},
			{`"prompt": 1`, `"prompt": 0`},
		} {
			if !strings.Contains(answer, change[0]) {
				continue
			}
			answer, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.Replace(answer, change[0], change[1], 1)))
			require.NoError(t, err)
			require.Equal(t, change[0] == "", schema.Validate(answer) == nil, change)
		}
	}
}
