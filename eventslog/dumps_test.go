package eventslog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// dumps are lines, as pieces of which they hold as many as they can, and the sums of what
// the reference writes of them; testdata/dumps.py makes them with Python.
type dumps struct {
	Pieces []string
	Lines  []struct {
		Size, Piece int // -1: all of them
		SHA256      string
	}
}

// lineOf returns the line of size bytes that dumps.py makes of pieces.
func lineOf(size int, pieces []string) string {
	var body strings.Builder
	head := `{"session_id": "old", "ts" : "2026-01-01T00:00:00Z", "session_id": "new\u0065r", "data": [`
	tail := `"],"event":"e", "ts": "2026-01-01T00:00:01Z" }`
	room := size - len(head) - len(tail) - len(`"`)
	for i := 0; ; i++ {
		piece := pieces[i%len(pieces)] + ","
		if body.Len()+len(piece) > room {
			return head + body.String() + `"` + strings.Repeat("x", room-body.Len()) + tail
		}
		body.WriteString(piece)
	}
}

// TestSliceWritesDumps compares lines of any length that get another id with what
// json.dumps writes, alone and between other lines.
func TestSliceWritesDumps(t *testing.T) {
	t.Parallel()
	var d dumps
	text, err := os.ReadFile("testdata/dumps.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &d))
	for _, line := range d.Lines {
		pieces := d.Pieces
		if line.Piece >= 0 {
			pieces = pieces[line.Piece : line.Piece+1]
		}
		t.Run(fmt.Sprint(line.Size, " of ", line.Piece), func(t *testing.T) {
			t.Parallel()
			l := openIn(t, event("a")+"\n"+lineOf(line.Size, pieces)+"\n"+event("z")+"\n", nil)
			var out strings.Builder
			n, err := l.SliceTo(t.Context(), &out, time.Now(), "fork", "")
			require.NoError(t, err)
			require.Equal(t, 3, n.Events)
			all := strings.SplitAfter(out.String(), "\n")
			require.Equal(t, `{"event": "a", "session_id": "fork"}`+"\n", all[0])
			sum := sha256.Sum256([]byte(all[1]))
			require.Equal(t, line.SHA256, hex.EncodeToString(sum[:]), "%.300s", all[1])
			require.Equal(t, []string{`{"event": "z", "session_id": "fork"}` + "\n", ""}, all[2:])
		})
	}
}
