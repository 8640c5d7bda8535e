package pyjson

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPick(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, arr string
		want      []string // elements and values in turn
	}{
		{"empty", ` [ ] `, nil},
		{"no array", `{"a": 1}`, nil},
		{"one", `[{"a": 1}]`, []string{`{"a": 1}`, "1"}},
		{"spaces", " [ { \"a\" : [ 1 ] } , {} ,\n{ } ] ", []string{`{ "a" : [ 1 ] }`, "[ 1 ]", "{}", "", "{ }", ""}},
		{"last of several", `[{"a": 1, "b": {"a": 2}, "\u0061": "x"}]`, []string{`{"a": 1, "b": {"a": 2}, "\u0061": "x"}`, `"x"`}},
		{"no objects", `[1, "a", [{"a": 1}], null]`, []string{"1", "", `"a"`, "", `[{"a": 1}]`, "", "null", ""}},
		{"brackets in strings", `[{"b": "}]\"", "a": "]"}, {"a": null}]`, []string{`{"b": "}]\"", "a": "]"}`, `"]"`, `{"a": null}`, "null"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, picked([]byte(tt.arr)))
			for range Pick([]byte(tt.arr), "a") {
				break
			}
		})
	}
}

func picked(arr []byte) (all []string) {
	for element, values := range Pick(arr, "b", "a", "role") {
		all = append(all, string(element), string(values[1]))
	}
	return all
}

// FuzzPick compares with what it replaces, and looks for panics on other text.
func picks(t *testing.T, arr []byte) {
	t.Helper()
	got := picked(arr)
	if Check(arr, Tolerant) != nil {
		return
	}
	var want []string
	for element := range Elements(arr) {
		value, _ := Lookup(element, "a")
		want = append(want, string(element), string(value))
	}
	if !slices.Equal(want, got) {
		t.Fatalf("%q: %q, not %q", arr, got, want)
	}
}
