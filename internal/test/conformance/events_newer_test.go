package conformance

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
)

// newerEventsCase is a log of the newer tools.
type newerEventsCase struct {
	SessionID   string `json:"session_id"`
	Data        *content
	MaxLines    json.RawMessage `json:"max_lines"`
	MaxBytes    int64           `json:"max_bytes"`
	IsDirectory bool            `json:"is_directory"`
	Events      string          `json:"events_json"`
	Diagnostics []rowDiagnostic
	Error       *failure
}

// rowDiagnostic tells what is wrong with a row, or with the file on line 0.
type rowDiagnostic struct {
	Code string
	Line int
}

type newerEvent struct {
	Line      int
	Event     string
	SessionID string `json:"session_id"`
	Timestamp string
}

type newerEvents struct {
	Events      []newerEvent
	Diagnostics []rowDiagnostic
	Failed      string
}

// The diagnoses of a log that is no file, and of one that is read in part.
const (
	unreadableFile = "unreadable_file"
	scanLimit      = "scan_limit"
)

func (c newerEventsCase) run(t *testing.T) verdict {
	reference := newerEvents{Failed: c.Error.name()}
	if c.Error == nil {
		require.NoError(t, json.Unmarshal([]byte(c.Events), &reference.Events))
	}
	for i, e := range reference.Events {
		reference.Events[i].Timestamp = readable(e.Timestamp)
	}
	reference.Diagnostics = append(reference.Diagnostics, c.Diagnostics...)
	return judge(reference, c.ours(t), func(f *fired) newerEvents {
		o := reference
		if o.Failed != "" && f.by(eventUnlimited) {
			o = c.ours(t)
		}
		if n := len(o.Diagnostics); n > 0 && o.Diagnostics[n-1].Code == scanLimit && f.by(eventReported) {
			o.Diagnostics = append([]rowDiagnostic(nil), o.Diagnostics[:n-1]...)
		}
		if len(o.Events) == 0 {
			o.Events = reference.Events
		}
		return o
	})
}

// readable is a time as the head of an event has it.
func readable(text string) string {
	at, _, err := pytime.Parse(text)
	if err != nil {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// ours reads the log as far as the limits allow, which the caller watches.
func (c newerEventsCase) ours(t *testing.T) newerEvents {
	t.Helper()
	dir := filepath.Join(t.TempDir(), c.SessionID, "context-intelligence")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	switch path := filepath.Join(dir, eventsFile); {
	case c.IsDirectory:
		require.NoError(t, os.Mkdir(path, 0o700))
	case c.Data != nil:
		require.NoError(t, os.WriteFile(path, []byte(c.Data.String()), 0o600))
	}
	log, err := eventslog.OpenCapture(filepath.Dir(dir), nil)
	require.NoError(t, err)
	defer log.Close()
	limit, limited := pyjson.Int(c.MaxLines)
	o, last := newerEvents{Events: []newerEvent{}}, math.MaxInt
	if limited && limit > 0 {
		last = int(limit)
	}
	for h, err := range log.Heads(t.Context(), eventslog.Cursor{}) {
		if err != nil {
			o.Diagnostics = []rowDiagnostic{{unreadableFile, 0}}
			return o
		}
		if c.MaxBytes > 0 && h.Next.Offset > c.MaxBytes {
			last = h.Line - 1
		}
		if h.Line > last {
			break
		}
		e := newerEvent{Line: h.Line, Event: h.Event, SessionID: h.SessionID}
		if !h.Time.IsZero() {
			e.Timestamp = h.Time.UTC().Format(time.RFC3339Nano)
		}
		o.Events = append(o.Events, e)
	}
	_, wrong, err := log.Refs(t.Context())
	require.NoError(t, err)
	for _, w := range wrong {
		if w.Line <= last {
			o.Diagnostics = append(o.Diagnostics, rowDiagnostic{w.Code, w.Line})
		}
	}
	return o
}
