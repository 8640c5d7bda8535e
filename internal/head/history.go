package head

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// Why there is a history. A branch stays. The others are former heads, and what logs were
// before they were cut, which gc gives up after their time.
const (
	WhyBranch  = "branch"  // a device had it when the head went another way
	WhyRewrite = "rewrite" // a rewrite replaced it, or its log was cut or replaced
	WhyRestore = "restore" // another history was restored in its place
)

// A History is one that a session had and that is not its main line. It has a document of
// its own, which never changes, with a name that is never used twice. The document is
// stored in the request that swaps the head that counts it, and removed in the one that
// swaps the head that no longer does.
type History struct {
	ID     string // of its document
	Born   string // of the session that it belongs to, as in [Head]
	Stream segment.Stream
	Extent Extent
	Common int64 // records that it shares with the head it left; 0 for unknown
	Why    string
	Device string // that wrote it, or replaced it
	KeptAs string // id of the local fork; "" for none
	At     time.Time
}

// Branch reports whether the history is a branch, and not a former head.
func (h *History) Branch() bool { return h.Why == WhyBranch }

// Histories say which documents of histories belong to a head: how many, how many of them
// are branches, and the XOR of the first 8 bytes of the SHA-256 of each name. A list that
// differs from them lags, or is damaged.
type Histories struct {
	N        int     `json:"n"`
	Branches int     `json:"branches,omitempty"`
	Sum      nameSum `json:"sum"`
}

// nameSum is the XOR of hashes, 16 hexadecimal digits in JSON.
type nameSum uint64

// MarshalText implements [encoding.TextMarshaler].
func (s nameSum) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%016x", uint64(s)), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *nameSum) UnmarshalText(text []byte) error {
	sum, err := strconv.ParseUint(string(text), 16, 64)
	*s = nameSum(sum)
	return err
}

// HistoriesOf returns what a head says whose histories these are.
func HistoriesOf(all []History) (s Histories) {
	for i := range all {
		s.Add(&all[i])
	}
	return s
}

// Add counts a history.
func (s *Histories) Add(h *History) { s.count(h, 1) }

// Drop counts a history no more.
func (s *Histories) Drop(h *History) { s.count(h, -1) }

func (s *Histories) count(h *History, n int) {
	name := sha256.Sum256([]byte(h.ID))
	s.N, s.Sum = s.N+n, s.Sum^nameSum(binary.BigEndian.Uint64(name[:]))
	if h.Branch() {
		s.Branches += n
	}
}
