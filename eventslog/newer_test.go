package eventslog

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestNewerLog reads the log of newer tools through every method: by its own
// rules, and never written.
func TestNewerLog(t *testing.T) {
	t.Parallel()
	l, err := OpenCapture(filepath.Join(t.TempDir(), "sess"), nil)
	require.NoError(t, err)
	put(t, l, "\ufeff"+`{"event": "bom", "timestamp": "2026-01-01T00:00:01Z", "ts": "2026-01-01T00:00:09Z"}`+"\r\n"+
		`{"event": "other", "session_id": "another"}`+"\n"+
		`{"event": "inner", "data": {"session_id": "sess"}, "timestamp": "2026-01-01T00:00:02Z"}`+"\n"+
		`{"event": "conflict", "session_id": "sess", "data": {"session_id": "another"}}`+"\n"+
		`{"event": "data", "data": [1]}`+"\n"+`{"event": "", "data": {}}`+"\n"+`{"event": "nan", "x": NaN}`+"\n"+
		`{"event": "a`+"\r"+`b"}`+"\n"+
		`{"event": "last", "session_id": "sess", "ts": "2026-01-01T00:00:03Z"}`+"\n"+`{"event": "torn`)
	found, _ := names(t, l, Cursor{})
	require.Equal(t, []string{"bom", "inner", "last"}, found)
	tail, err := l.Tail(t.Context(), 2)
	require.NoError(t, err)
	require.Equal(t, []string{"inner", "last"}, []string{tail[0].Event, tail[1].Event})
	require.Equal(t, "sess", tail[0].SessionID)
	sum, err := l.Summary(t.Context())
	require.NoError(t, err)
	require.Equal(t, Summary{
		Total: 3, Types: map[string]int{"bom": 1, "inner": 1, "last": 1},
		First: "2026-01-01T00:00:01Z", Last: "2026-01-01T00:00:03Z",
	}, sum)
	var out bytes.Buffer
	n, err := l.SliceTo(t.Context(), &out, time.Date(2026, 1, 1, 0, 0, 2, 0, time.UTC), "", "")
	require.NoError(t, err)
	require.Equal(t, 2, n.Events)
	r, err := l.Open(t.Context(), tail[1])
	require.NoError(t, err)
	line, err := io.ReadAll(r)
	require.NoError(t, errors.Join(err, r.Close()))
	require.Contains(t, string(line), `"last"`)
	_, seen := followUntil(t, l, Cursor{}, nil, found)
	require.Equal(t, found, seen)

	was := content(t, l)
	require.ErrorIs(t, l.Append(t.Context(), Event{Name: "x"}), errors.ErrUnsupported)
	require.Equal(t, was, content(t, l))
	require.NoError(t, l.Close())
}

// TestDialects opens both logs of a session whose id is that of the capture's
// directory: what is opened decides by which rules a log is read.
func TestDialects(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), captureDir)
	l, err := Open(dir, nil)
	require.NoError(t, err)
	put(t, l, event("a")+"\r"+`{"x": NaN}`+"\n")
	require.NoError(t, l.Append(t.Context(), Event{Name: "b"}))
	all, _ := names(t, l, Cursor{})
	require.Equal(t, []string{"a", "", "b"}, all)
	require.Contains(t, content(t, l), `"session_id": "context-intelligence"`)
	require.NoError(t, l.Close())

	c, err := OpenCapture(dir, nil)
	require.NoError(t, err)
	put(t, c, event("a")+"\r"+event("cr")+"\n"+`{"event": "nan", "x": NaN}`+"\n"+`{"event": "b", "session_id": "context-intelligence"}`)
	all, _ = names(t, c, Cursor{})
	require.Equal(t, []string{"b"}, all)
	require.ErrorIs(t, c.Append(t.Context(), Event{Name: "x"}), errors.ErrUnsupported)
	require.NoError(t, c.Close())

	c, err = OpenCapture(dir, &Options{SessionID: "other"})
	require.NoError(t, err)
	all, _ = names(t, c, Cursor{})
	require.Empty(t, all)
	require.NoError(t, c.Close())
}
