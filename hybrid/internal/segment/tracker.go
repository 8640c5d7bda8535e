package segment

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"math/bits"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// A Mark is a place in a local file from which hashing can go on.
type Mark struct {
	N      int64 // records before it
	Offset int64 // bytes of the local file before it
	Hash   Hash  // over the lines as they leave
	Raw    Hash  // keyed, over the lines as they lie in the file; zero without a key
	Bytes  int64 // of the stream before it, each line with its LF: Offset, unless redaction changed lengths
	Turn   int   // turns begun before it, of a transcript
}

// Begin returns the mark before the first line of a stream.
func Begin(s Stream) Mark { return Mark{Hash: Origin(s).Hash} }

// Point returns what the mark names.
func (m Mark) Point() Point { return Point{N: m.N, Hash: m.Hash} }

// MarshalJSON writes m as an array, in the order of its fields.
func (m Mark) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{m.N, m.Offset, m.Hash, m.Raw, m.Bytes, m.Turn})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (m *Mark) UnmarshalJSON(text []byte) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(text, &parts); err != nil || len(parts) != 6 {
		return errors.New("read mark: not an array of 6")
	}
	var got Mark
	for i, to := range []any{&got.N, &got.Offset, &got.Hash, &got.Raw, &got.Bytes, &got.Turn} {
		if err := json.Unmarshal(parts[i], to); err != nil {
			return errors.New("read mark: a part of the wrong type")
		}
	}
	if got.N < 0 || got.Offset < 0 || got.Bytes < 0 || got.Turn < 0 {
		return errors.New("read mark: negative number")
	}
	*m = got
	return nil
}

// A Tracker computes the hashes of a stream while its lines are read, and keeps
// marks on the way.
type Tracker struct {
	at       Mark
	turns    bool
	sent     *chain
	raw      *chain // nil without a key
	marks    []Mark
	thinning int64
}

// NewTracker returns a tracker that goes on at the last of marks, or at the
// beginning of s. With a key it also computes [Mark].Raw.
func NewTracker(s Stream, key []byte, marks []Mark) *Tracker {
	t := &Tracker{at: Begin(s), turns: s.Kind() == KindTranscript, sent: newChain(sha256.New)}
	if key != nil {
		t.raw = newKeyed(key)
	}
	for _, m := range marks {
		t.at = m
		t.note()
	}
	return t
}

// Add takes the next line without its LF, as it lies in the file, and as it
// leaves the device; nil when that is the same.
func (t *Tracker) Add(raw, sent []byte) {
	if sent == nil {
		sent = raw
	}
	t.at.Hash = t.sent.next(t.at.Hash, sent)
	if t.raw != nil {
		t.at.Raw = t.raw.next(t.at.Raw, raw)
	}
	if t.turns && beginsTurn(sent) {
		t.at.Turn++
	}
	t.at.N++
	t.at.Offset += int64(len(raw)) + 1
	t.at.Bytes += int64(len(sent)) + 1
	t.note()
}

// Mark returns the place behind the last line.
func (t *Tracker) Mark() Mark { return t.at }

// Marks returns places from the beginning up to [Tracker.Mark], which is the
// last. They are dense at the end and rare at the beginning: for any record,
// fewer lines lie between it and the mark before than between it and the end,
// give or take some. There are about four for each doubling.
func (t *Tracker) Marks() []Mark {
	t.thin()
	out := append([]Mark(nil), t.marks...)
	if len(out) == 0 || out[len(out)-1].N != t.at.N {
		out = append(out, t.at)
	}
	return out
}

// Marks stand at multiples of grid, so that replicas have the same.
const grid = 16

func (t *Tracker) note() {
	if t.at.N == 0 || t.at.N%grid != 0 {
		return
	}
	t.marks = append(t.marks, t.at)
	if t.thinning++; t.thinning == grid {
		t.thin()
	}
}

// thin drops a mark at m·2^k·grid, m odd, when the end is further away than
// four times 2^k·grid.
func (t *Tracker) thin() {
	t.thinning = 0
	kept := t.marks[:0]
	for _, m := range t.marks {
		step := int64(grid) << bits.TrailingZeros64(uint64(m.N/grid))
		if t.at.N-m.N <= 4*step {
			kept = append(kept, m)
		}
	}
	t.marks = kept
}

// Floor returns the last of marks, which ascend, that is not behind record n.
func Floor(marks []Mark, n int64) (Mark, bool) {
	for i := len(marks) - 1; i >= 0; i-- {
		if marks[i].N <= n {
			return marks[i], true
		}
	}
	return Mark{}, false
}

// beginsTurn reports whether a message is one of the user.
func beginsTurn(line []byte) bool {
	if !bytes.Contains(line, []byte(`"user"`)) {
		return false
	}
	role, ok := pyjson.Lookup(line, "role")
	return ok && string(role) == `"user"`
}
