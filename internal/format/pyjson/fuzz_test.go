package pyjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// seeds adds texts that have a little of everything.
func seeds(f *testing.F, add func(string)) {
	f.Helper()
	for _, s := range []string{
		`{"role":"user","content":[1,null,{"a":-0.0,"a":1e400}],"thinking_block":{"text":[null]},"token":NaN}`,
		` [ "\u00e9\ud83d\ude00\ud800\/\n" , 01 , {"":{}} ] `,
		"\ufeff{\"\xed\xa0\x80\": \"\u2028\x7f\"}",
		`{"a":1,"\u0061":2,"thinking_text":null,"content_blocks":[]}`,
		nested(60), `-`, `"\`, ``,
	} {
		add(s)
	}
}

func FuzzCheck(f *testing.F) {
	seeds(f, func(s string) { f.Add([]byte(s)) })
	for _, text := range skipTexts() {
		f.Add([]byte("0123456789" + text + "0123456789"))
		f.Add([]byte(strings.Repeat("0123456789 ä€", 7) + text + strings.Repeat("0123456789", 9)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		require.Equal(t, afterString(b, 0), pyjson.SkipString(b, 0), "%q", b)
		err := pyjson.Check(b, pyjson.Tolerant)
		var e *pyjson.Error
		switch {
		case !utf8.Valid(b):
			requireReason(t, pyjson.BadUTF8, err)
		case errors.As(err, &e) && e.Reason != pyjson.Syntax:
			require.Contains(t, []pyjson.Reason{pyjson.TooDeep, pyjson.LongInteger}, e.Reason)
		case !bytes.Contains(b, []byte("NaN")) && !bytes.Contains(b, []byte("Infinity")):
			require.Equal(t, json.Valid(b), err == nil, "%v", err)
			require.Equal(t, err == nil, pyjson.Check(append([]byte("\ufeff"), b...), pyjson.Strict) == nil)
		}
		_, failed := pyjson.Append(nil, b, pyjson.Style{})
		if err == nil || pyjson.Check(b, pyjson.Strict) == nil {
			require.NoError(t, failed)
		}
		if failed == nil && utf8.Valid(b) && !bytes.HasPrefix(b, []byte("\ufeff")) {
			require.NoError(t, err)
		}
		readAll(b)
	})
}

// readAll looks at everything in b, which may be anything: nothing may panic.
func readAll(b []byte) {
	for m := range pyjson.Members(b) {
		pyjson.KeyIs(m.Key, "role")
		readAll(m.Value)
	}
	for e := range pyjson.Elements(b) {
		readAll(e)
	}
	pyjson.KindOf(b)
	pyjson.Int(b)
	pyjson.Text(b)
	pyjson.TrimSpace(b)
	pyjson.Lookup(b, "role")
	pyjson.Splice(b, "role", []byte("1"))
	pyjson.Remove(b, "role")
}

func FuzzAppend(f *testing.F) {
	seeds(f, func(s string) { f.Add([]byte(s), uint8(len(s))) })
	f.Fuzz(func(t *testing.T, b []byte, style uint8) {
		if pyjson.Check(b, pyjson.Tolerant) != nil {
			return
		}
		s := pyjson.Style{
			Indent: int(style & 1), Compact: style&2 != 0, ASCII: style&4 != 0, Portable: style&8 != 0,
			SortKeys: style&16 != 0, Redact: style&32 != 0, Replace: style&64 != 0,
		}
		once, err := pyjson.Append(nil, b, s)
		require.NoError(t, err)
		require.NoError(t, pyjson.Check(once, pyjson.Tolerant))
		require.True(t, utf8.Valid(once))
		twice, err := pyjson.Append(nil, once, s)
		require.NoError(t, err)
		if s.Replace { // it may make names equal, so the first pass can leave duplicates
			once = twice
			twice, err = pyjson.Append(nil, once, s)
			require.NoError(t, err)
		}
		require.Equal(t, string(once), string(twice))
		if pyjson.KindOf(b) == pyjson.Object {
			appendMessage(t, b)
		}
	})
}

// appendMessage writes an object as a message, again and again.
func appendMessage(t *testing.T, b []byte) {
	t.Helper()
	once, err := pyjson.AppendMessage(nil, b, pyjson.Style{})
	require.NoError(t, err)
	require.NoError(t, pyjson.Check(once, pyjson.Tolerant))
	twice, err := pyjson.AppendMessage(nil, once, pyjson.Style{})
	require.NoError(t, err)
	if _, ok := pyjson.Lookup(b, "thinking_block"); !ok {
		require.Equal(t, string(once), string(twice))
	}
	thrice, err := pyjson.AppendMessage(nil, twice, pyjson.Style{})
	require.NoError(t, err)
	require.Equal(t, string(twice), string(thrice), "what was taken from a thinking block is sanitised by the second pass at the latest")
}

func FuzzSplice(f *testing.F) {
	seeds(f, func(s string) { f.Add([]byte(s), "role", []byte(`{"x": [1]}`)) })
	f.Add([]byte("{\n  \"a\": 1\n}"), "b", []byte("2"))
	f.Fuzz(func(t *testing.T, obj []byte, name string, value []byte) {
		if pyjson.Check(obj, pyjson.Tolerant) != nil || pyjson.KindOf(obj) != pyjson.Object || !utf8.ValidString(name) {
			return
		}
		if value = pyjson.Trim(value); pyjson.Check(value, pyjson.Tolerant) != nil {
			return
		}
		spliced := pyjson.Splice(obj, name, value)
		require.NotEqual(t, pyjson.Syntax, reasonOf(pyjson.Check(spliced, pyjson.Tolerant)), "%s", spliced)
		got, ok := pyjson.Lookup(spliced, name)
		require.True(t, ok)
		require.Equal(t, string(value), string(got))
		require.Equal(t, others(obj, name), others(spliced, name))

		removed := pyjson.Remove(spliced, name)
		_, ok = pyjson.Lookup(removed, name)
		require.False(t, ok)
		require.NotEqual(t, pyjson.Syntax, reasonOf(pyjson.Check(removed, pyjson.Tolerant)), "%s", removed)
		require.Equal(t, others(obj, name), others(removed, name))
	})
}

// noReason is what no error has.
const noReason = pyjson.Reason(255)

func reasonOf(err error) pyjson.Reason {
	var e *pyjson.Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return noReason
}

// others returns the members of obj that are not called name.
func others(obj []byte, name string) []string {
	var all []string
	for m := range pyjson.Members(obj) {
		if !pyjson.KeyIs(m.Key, name) {
			all = append(all, string(m.Key)+string(m.Value))
		}
	}
	return all
}
