package conformance

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// lastTimeCase looks for the last time of a turn.
type lastTimeCase struct {
	Transcript content
	Turn       int
	Expected   json.RawMessage
	Error      *failure
}

type lastTimeOutcome struct{ At, Failed string }

func (c lastTimeCase) run(t *testing.T) verdict {
	p := newPlace(t)
	p.put(t, "sess", files{transcriptFile: c.Transcript.String()})
	s, err := p.open(t).Load(t.Context(), "sess")
	if !errors.Is(err, sessionstore.ErrCorrupt) {
		require.NoError(t, err)
	}
	ours := lastTimeOutcome{}
	ours.At, err = slice.LastTimestamp(s.Messages, c.Turn)
	if err != nil {
		ours.Failed = err.Error()
	}
	reference := lastTimeOutcome{Failed: c.Error.slicing()}
	if c.Error == nil && string(c.Expected) != "null" {
		if json.Unmarshal(c.Expected, &reference.At) != nil {
			reference.At = string(c.Expected)
		}
	}
	return judge(reference, ours, func(f *fired) lastTimeOutcome { return c.predict(f) })
}

func (c lastTimeCase) predict(f *fired) lastTimeOutcome {
	raw, failed := pythonRows(f, c.Transcript.String())
	if failed {
		return lastTimeOutcome{Failed: raised}
	}
	at := starts(view{f: f}.all(raw))
	if len(at) == 0 {
		return lastTimeOutcome{Failed: "No user messages found in transcript"}
	}
	if c.Turn < 1 || c.Turn > len(at) {
		return lastTimeOutcome{Failed: "Turn " + strconv.Itoa(c.Turn) + " out of range (1-" + strconv.Itoa(len(at)) + ")"}
	}
	rows := raw[at[c.Turn-1]:append(at, len(raw))[c.Turn]]
	text, odd := lastTime(f, rows)
	if odd {
		text = parseObject(rows[len(rows)-1]).get("timestamp")
	}
	return lastTimeOutcome{At: text}
}

// pythonRows are the rows of a transcript as the reference's tolerant reader
// hands them on. It failed when the reference raises on what it reads: bytes
// that are no UTF-8, huge integers, very deep nesting, and rows that are no
// objects, which we pass over.
func pythonRows(f *fired, data string) (rows []string, failed bool) {
	bad := !utf8.ValidString(data)
	for row, flaw := range rowsIn(f, data) {
		switch {
		case flaw == none && kindOf(row) == pyjson.Object:
			rows = append(rows, row)
		case flaw != syntax:
			bad = true
		}
	}
	if bad && f.by(forkRecovers) {
		bad = false
	}
	return slices.Clip(rows), bad
}
