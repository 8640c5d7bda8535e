package head

import (
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// An Inherited says that the first lines of a fork's log are those of another
// session's log. The fork's own segments hold the lines behind them.
type Inherited struct {
	segment.Point                // behind these lines, in the fork's log
	SID           string         `json:"sid"`
	Stream        segment.Stream `json:"st"`
	To            segment.Point  `json:"to"`                   // the same place in that log
	Session       string         `json:"session_id,omitempty"` // that lines get instead of theirs; "": they stay as they are
	Parent        string         `json:"parent_session_id,omitempty"`
	From          *Inherited     `json:"from,omitempty"` // of that log, which is a fork's too
}

// Line returns a line of the other log as the fork has it. It may share memory with
// line. What it does can never change: logs that were stored are read by it.
func (f *Inherited) Line(line []byte) []byte {
	if f.Session == "" {
		return line
	}
	was, _ := pyjson.Lookup(line, "session_id")
	known := len(was) > len(`""`) && was[0] == '"'
	line = pyjson.Splice(line, "session_id", quoted(f.Session))
	if known {
		line = pyjson.Splice(line, "parent_session_id", quoted(f.Parent))
	}
	return line
}

func quoted(text string) []byte { return pyjson.AppendQuoted(nil, text, pyjson.Style{}) }

// maxInherited is how many forks of forks a log may have.
const maxInherited = 64

func (f *Inherited) valid(s segment.Stream) error {
	for depth := 0; f != nil; f, depth = f.From, depth+1 {
		_, err := segment.ParseStream(string(f.Stream))
		if err != nil || depth == maxInherited || f.Stream.Kind() != s.Kind() || f.N <= 0 || f.N != f.To.N ||
			f.From != nil && f.From.N > f.N {
			return fmt.Errorf("%w: beginning of stream %s cannot be", segment.ErrDamaged, s)
		}
	}
	return nil
}
