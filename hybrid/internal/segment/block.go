package segment

import (
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/pytime"
)

// A Block is what a preview tells of one message. It holds no content.
type Block struct {
	Role string    // one of roles; "" for any other
	Time time.Time // in UTC, to the second; the zero time for a message without one
}

// roles are the roles that an index holds, by their codes.
var roles = []string{"user", "assistant", "tool", "", "system", "developer", "function"}

// BlockOf returns the block of a line of a transcript.
func BlockOf(line []byte) Block {
	v := pyjson.Values(line, "role", "timestamp", "ts", "metadata")
	stamp, _ := pyjson.Lookup(v[3], "timestamp")
	var b Block
	if n := len(v[0]); n > 2 && v[0][0] == '"' {
		b.Role = roleOf(string(v[0][1 : n-1]))
	}
	for _, text := range [][]byte{v[1], v[2], stamp} {
		if len(text) > 2 && len(text) <= maxTime && text[0] == '"' && b.Time.IsZero() {
			b.Time = timeOf(pyjson.Text(text))
		}
	}
	return b
}

// maxTime is the length of the longest text that is read as a time.
const maxTime = 64

func roleOf(text string) string {
	if slices.Contains(roles, text) {
		return text
	}
	return ""
}

func timeOf(text string) time.Time {
	t, _, err := pytime.Parse(text)
	if err != nil {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Second)
}
