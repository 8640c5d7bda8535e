package eventslog

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// scanIn returns a scanner that has read the line in pieces of size bytes.
func scanIn(line []byte, size int, newer bool) *scanner {
	s := &scanner{newer: newer}
	s.reset()
	for len(line) > 0 {
		n := min(size, len(line))
		s.feed(bytes.Clone(line[:n]))
		line = line[n:]
	}
	return s
}

// requireLikeDecoder compares the scanner with what reads whole values.
func requireLikeDecoder(t *testing.T, line []byte) {
	t.Helper()
	for _, newer := range []bool{false, true} {
		text, dialect := pyjson.TrimSpace(line), pyjson.Tolerant
		if newer {
			text, dialect = line, pyjson.Strict
		}
		object := bytes.TrimPrefix(text, []byte(byteOrderMark))
		want := pyjson.Check(text, dialect) == nil && pyjson.KindOf(pyjson.Trim(object)) == pyjson.Object
		for _, size := range []int{1, 2, 3, 7, 4096} {
			s := scanIn(line, size, newer)
			require.Equal(t, want, s.valid(), "newer %t, pieces of %d: %q", newer, size, line)
			if !want {
				continue
			}
			object = pyjson.Trim(object)
			require.Equal(t, string(object), string(line[s.start:s.end]))
			for name, got := range map[string]*value{
				"ts": &s.head.ts, "timestamp": &s.head.timestamp, "event": &s.head.event, "lvl": &s.head.level,
				"session_id": &s.head.session, "parent_session_id": &s.head.parent, "data": &s.head.data,
			} {
				value, _ := pyjson.Lookup(object, name)
				require.Equal(t, pyjson.KindOf(value), got.kind, "%s in %q", name, line)
				require.Equal(t, pyjson.Truthy(value), got.truthy(), "%s in %q", name, line)
				if value == nil {
					continue
				}
				require.Equal(t, string(value), string(line[got.start:got.end]), "%s in %q", name, line)
				if got.kind != pyjson.Object && got.kind != pyjson.Array {
					require.Equal(t, string(value), string(got.raw), "%s in %q", name, line)
				}
			}
		}
	}
}

func lines() []string {
	deep := func(n int) string {
		return `{"data": ` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`
	}
	return []string{
		`{}`, ` { } `, `{"ts": "a", "ts": "b"}`, `{"data": {"ts": "no"}, "ts": "yes", "event": "e"}`,
		`{"\u0074s": "x", "e\u0076ent": [], "lvl": {}, "session_id": {"a": [1]}}`, `{"ts": 0, "event": -0.0, "lvl": 1e5}`,
		`{"ts": "t\ud800", "event": "\ud83d\ude00"}`, `{"ts": NaN, "event": -Infinity, "lvl": Infinity}`,
		"{\"ts\": \"\u00e9\u20ac\U0001f600\", \"\u00e9\": 1}", "{\"ts\": \"\xff\"}", "{\"ts\": \"\xed\xa0\x80\"}", "{\"ts\": \"\xe2\x82\"}",
		"\u2003\x1c{\"ts\": 1}\u00a0\x1f\u3000", "\ufeff{\"ts\": 1}", " \ufeff{}", "{}\ufeff", "\v{}\f",
		`{"a": 01}`, `{"a": 1.}`, `{"a": -}`, `{"a": 1e}`, `{"a": 1e+}`, `{"a": .5}`, `{"a": 1e+05, "b": -12.50E-3}`, `{"a": -I}`,
		`{"a": tru}`, `{"a": true, "b": false, "c": null}`, `{"a": truex}`, `{"a"}`, `{"a":}`, `{,}`, `{"a": 1,}`, `{"a": [1,]}`, `{"a": [,]}`,
		`{"a": "\x"}`, `{"a": "\u12g4"}`, `{"a": "\`, `{"a": "`, "{\"a\": \"\x01\"}", "{\"a\": \"\x7f\"}", `{"a": 1} x`, `{}{}`, `[]`, `5`, `"x"`, `nul`, ``, ` `,
		`{"a": [{"b": [[], {}, [{}]]}, 1], "event": "after"}`, `{"a": ]}`, `{"a": [}]`, `{"a": {]}`,
		deep(998), deep(999), deep(1000), `{"ts": ` + strings.Repeat("9", 4300) + `}`, `{"ts": ` + strings.Repeat("9", 4301) + `}`,
		`{"ts": -` + strings.Repeat("9", 4300) + `}`, `{"ts": ` + strings.Repeat("9", 4301) + `.0}`, `{"` + strings.Repeat("k", 500) + `": 1, "ts": "x"}`,
		`{"ts": 1, "ts": {"x": 1}, "event": {"x": 1}, "event": "e"}`, `{"event": "a", "event": null}`, `{"a": N}`, `{"a": I}`, `{"ts" : "x" , "event":"y"}`,
	}
}

func TestScanner(t *testing.T) {
	t.Parallel()
	for i, line := range lines() {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			requireLikeDecoder(t, []byte(line))
		})
	}
}

func FuzzScanner(f *testing.F) {
	for _, line := range lines() {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		line = bytes.ReplaceAll(line, []byte("\n"), nil)
		line = bytes.ReplaceAll(line, []byte("\r"), nil)
		if len(line) < maxKept {
			requireLikeDecoder(t, line)
		}
	})
}
