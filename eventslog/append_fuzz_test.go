package eventslog

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// FuzzAppend appends any event behind any tail: either it is refused and
// nothing changes, or there is one line more, which is the event.
func FuzzAppend(f *testing.F) {
	f.Add("tool:post", "", []byte(`{"a": "x\ny", "b": [1, 2.50, NaN]}`), []byte(""), true)
	f.Add("a\nb\r\u2028\"", "W\nARN", []byte(`{"session_id": "s", "timestamp": "2026-01-01T00:00:00Z", "error": ""}`), []byte(`{"torn`), false)
	f.Add("\xff\xed\xa0\x80", "DEBUG", []byte(`null`), []byte("whole\n"), false)
	f.Add("", "", []byte(`{"timestamp": "a\nb", "lvl": "\ud800", "status": "error", "data": {"data": 1}}`), []byte("\r"), true)
	f.Add("deep", "", []byte(strings.Repeat(`{"a":`, 998)+"1"+strings.Repeat("}", 998)), []byte("{}"), true)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, name, level string, data, tail []byte, timed bool) {
		path := filepath.Join(dir, fileName)
		require.NoError(t, os.WriteFile(path, tail, 0o600))
		l, err := Open(dir, nil)
		require.NoError(t, err)
		e := Event{Name: name, Level: level, Data: json.RawMessage(data)}
		if timed {
			e.Time = time.Unix(1e9, 123456789)
		}
		err = l.Append(t.Context(), e)
		require.NoError(t, l.Close())
		after, rerr := os.ReadFile(path)
		require.NoError(t, rerr)
		if err != nil {
			require.Equal(t, tail, after)
			_, refused := pyjson.Append(nil, data, pyjson.Style{MaxDepth: maxDepth})
			require.True(t, strings.TrimSpace(name) == "" || refused != nil || !utf8.Valid(data) || pyjson.KindOf(data) > pyjson.Object, "%q: %v", data, err)
			return
		}
		line := bytes.TrimPrefix(after, tail)
		if len(tail) > 0 && tail[len(tail)-1] != '\n' {
			require.Equal(t, byte('\n'), line[0])
			line = line[1:]
		}
		require.Equal(t, len(line)-1, bytes.IndexAny(line, "\r\n"), "%q", line)
		line = line[:len(line)-1]
		require.NoError(t, pyjson.Check(line, pyjson.Tolerant), "%q", line)
		id, _ := pyjson.Lookup(line, "session_id")
		require.True(t, pyjson.Truthy(id))
		h, isEvent := headOf(line)
		require.True(t, isEvent)
		if utf8.ValidString(name) {
			require.Equal(t, name, text(h.event))
		}
	})
}
