package eventslog

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// found is what a reader finds of an event: where it is, its object, and the members of its
// head as they are in the log, containers without their content.
type found struct {
	Line         int
	Offset, Size int64
	Object       string
	Members      [6]string // ts, timestamp, event, lvl, session_id, data
	Time         string
	Session      string
}

// outline returns a value as the scanner keeps it.
func outline(kind pyjson.Kind, raw []byte, truthy bool) string {
	switch kind {
	case pyjson.Object, pyjson.Array:
		return fmt.Sprint(kind, truthy)
	case pyjson.Invalid:
		return ""
	}
	return fmt.Sprintf("%s, %t", raw, truthy)
}

// headOf returns the head of a line, and whether it is an event.
func headOf(text []byte) (head, bool) {
	ls := (&Log{longest: longest}).events()
	isEvent := ls.parse(line{text: text})
	return ls.head, isEvent
}

// pieces is a file that is read size bytes at a time, at most.
type pieces struct {
	text string
	size int
}

func (p pieces) ReadAt(to []byte, at int64) (int, error) {
	return strings.NewReader(p.text).ReadAt(to[:min(len(to), p.size)], at)
}

// read returns what lines finds in text, with a buffer of size bytes at first, and how many
// lines are damaged.
func read(t *testing.T, l *Log, text string, size int) (all []found, damaged int) {
	t.Helper()
	ls := l.events()
	ls.buf = make([]byte, size)
	require.NoError(t, ls.begin(t.Context(), pieces{text, size}, Cursor{}))
	for ln, err := range ls.all() {
		require.NoError(t, err)
		if !ls.parse(ln) {
			continue
		}
		require.Equal(t, text[ln.offset:ln.offset+ln.size], string(ln.text))
		end := ls.at()
		want := text[max(0, end-windowSize):end]
		require.Equal(t, want, string(lastOf(ls.buf[:ls.r])))
		f := found{Line: ln.number, Offset: ln.offset, Size: ln.size, Object: string(ls.object)}
		h := &ls.head
		for i, v := range [...][]byte{h.ts, h.timestamp, h.event, h.level, h.session, h.data} {
			f.Members[i] = outline(pyjson.KindOf(v), v, pyjson.Truthy(v))
		}
		f.Time, f.Session = outline(pyjson.KindOf(ls.time()), ls.time(), true), ls.headOf(ln, Cursor{}).SessionID
		all = append(all, f)
	}
	require.Equal(t, int64(len(text)), ls.at())
	return all, ls.damaged
}

// scanned returns what the scanner finds in text, which it takes in pieces of size bytes.
func scanned(l *Log, text string, size int) (all []found, damaged int) {
	line := 1
	for at := int64(0); at < int64(len(text)); {
		ends := "\n\r"
		if l.newer {
			ends = "\n"
		}
		raw, isEnd := text[at:], false
		if n := strings.IndexAny(raw, ends); n >= 0 {
			raw, isEnd = raw[:n], true
		}
		s := scanner{newer: l.newer}
		s.reset()
		for rest := []byte(raw); len(rest) > 0; {
			n := min(size, len(rest))
			s.feed(bytes.Clone(rest[:n]))
			rest = rest[n:]
		}
		switch {
		case s.isEvent(l.sessionID):
			all = append(all, s.foundIn(line, at, raw))
		case s.state != beforeObject || len(s.carry) > 0:
			damaged++
		}
		at += int64(len(raw))
		if isEnd {
			if text[at] == '\n' {
				line++
			}
			at++
		}
	}
	return all, damaged
}

// isEvent reports whether the line that s has read counts in a log of the session owner.
func (s *scanner) isEvent(owner string) bool {
	h := &s.head
	if !s.valid() || !s.newer {
		return s.valid()
	}
	if h.event.kind != pyjson.String || !h.event.truthy() || h.data.kind != pyjson.Invalid && h.data.kind != pyjson.Object {
		return false
	}
	id, ok := s.session()
	return ok && (id == "" || id == owner)
}

// session returns the id of the event's session, and false when there are two of them or one
// that is no string.
func (s *scanner) session() (id string, ok bool) {
	if !s.newer {
		return s.head.session.text(), true
	}
	for _, v := range [...]*oracleValue{&s.head.session, &s.head.inner} {
		if v.kind == pyjson.Invalid || v.kind == pyjson.Null {
			continue
		}
		text := v.text()
		if v.kind != pyjson.String || id != "" && text != "" && id != text {
			return "", false
		}
		if text != "" {
			id = text
		}
	}
	return id, true
}

// foundIn returns what s has read of the line raw.
func (s *scanner) foundIn(line int, at int64, raw string) found {
	f := found{Line: line, Offset: at, Size: int64(len(raw)), Object: raw[s.start:s.end]}
	h := &s.head
	for i, v := range [...]*oracleValue{&h.ts, &h.timestamp, &h.event, &h.level, &h.session, &h.data} {
		f.Members[i] = outline(v.kind, v.raw, v.truthy())
	}
	first, second := &h.ts, &h.timestamp
	if s.newer {
		first, second = second, first
	}
	if !first.truthy() {
		first = second
	}
	if first.truthy() {
		f.Time = outline(first.kind, first.raw, true)
	}
	f.Session, _ = s.session()
	return f
}

// requireLikeScanner compares lines with the scanner.
func requireLikeScanner(t *testing.T, text string, sizes ...int) {
	t.Helper()
	for _, newer := range []bool{false, true} {
		l := &Log{newer: newer, sessionID: "s", longest: longest}
		for _, size := range sizes {
			want, damaged := scanned(l, text, size)
			got, n := read(t, l, text, size)
			require.Equal(t, want, got, "newer %t, pieces of %d: %.300q", newer, size, text)
			require.Equal(t, damaged, n, "newer %t, pieces of %d: %.300q", newer, size, text)
		}
	}
}

func someLines() []string {
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

// TestScanner reads each line alone, and all in a log whose lines have all ends.
func TestScanner(t *testing.T) {
	t.Parallel()
	sizes := []int{1, 2, 3, 7, 4096}
	var all strings.Builder
	for i, line := range someLines() {
		requireLikeScanner(t, line, sizes...)
		all.WriteString(line + []string{"\n", "\r\n", "\r", "\n\n", "\n\r"}[i%5])
	}
	requireLikeScanner(t, all.String(), 1, 1000, blockSize)
}

// TestScannerOfDamage reads logs of lines that are cut, joined and changed at random.
func TestScannerOfDamage(t *testing.T) {
	t.Parallel()
	r := testenv.Rand(t)
	for range testenv.Share(200, 1000, 20_000) {
		var text strings.Builder
		for range r.IntN(8) {
			text.WriteString(anyLine(r) + []string{"\n", "\n", "\r\n", "\r", "\n\r", ""}[r.IntN(6)])
		}
		requireLikeScanner(t, text.String(), 1+r.IntN(400))
	}
}

// anyLine returns a line, which may be damaged, or not end where it should.
func anyLine(r *rand.Rand) string {
	all := someLines()
	line := []byte(all[r.IntN(len(all))])
	for r.IntN(3) == 0 && len(line) > 0 {
		i := r.IntN(len(line))
		switch r.IntN(4) {
		case 0:
			line = line[:i]
		case 1:
			line[i] = "\x00\xff\xed\xa0\x80\"\\{}[]:,\r 0eN"[r.IntN(18)]
		case 2:
			line = append(line[:i:i], append([]byte{`"\{}[],: x`[r.IntN(10)]}, line[i:]...)...)
		case 3:
			line = append(line, all[r.IntN(len(all))]...)
		}
	}
	return string(line)
}

// FuzzScanner compares the reader of lines with the scanner that read logs before.
func FuzzScanner(f *testing.F) {
	for _, line := range someLines() {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, text []byte) { requireLikeScanner(t, string(text), 1, 7, 4096) })
}
