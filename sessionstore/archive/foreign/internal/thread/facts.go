package thread

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// Facts are the facts of a file for its count.
type Facts struct {
	first, Last         time.Time // the earliest and the latest time
	FirstText, LastText string    // as the file has them
	Unread              int       // lines that could not be read
	Unknown             map[string]int
	Spent               []Spent              // in the order of responses once the file was read
	spending            pieces[Spent]        // the same while the file is read
	Total               map[string]*Spending // by model, where the tool has no usage by response
	Models              []string
	GoesOn              []string // the sessions in which this one goes on, as copies with ids of their own
	Boundary            boundaries
	Summaries           map[uint64]string // titles by the hash of the uuid of the record that they are of, or of the task of a sub-agent
}

// Spent is the usage of a response: 32 bytes. Its key is the key of its first record.
type Spent struct {
	ID     uint64    // see claude.line.responseHash
	Tokens [4]uint32 // in the order of TokenNames
	At     int32     // its first record
	Model  uint16    // its place in Facts.Models, from 1; 0: none
	Has    uint8     // which of the tokens the file has, by bits
}

// Time takes the time of a line.
func (f *Facts) Time(at time.Time, text string) {
	if at.IsZero() {
		return
	}
	if f.first.IsZero() || at.Before(f.first) {
		f.first, f.FirstText = at, text
	}
	if f.Last.IsZero() || at.After(f.Last) {
		f.Last, f.LastText = at, text
	}
}

func (f *Facts) unknownKind(what, name string) {
	if what != "kind" {
		name = what + " " + name
	}
	if f.Unknown == nil {
		f.Unknown = map[string]int{}
	}
	if _, known := f.Unknown[name]; !known && (len(f.Unknown) >= MaxUnknown || len(name) > maxKind) {
		name = OtherName
	}
	f.Unknown[name]++
}

// maxSummaries is how many titles of records are kept, and maxSummary how long one may
// be, in bytes.
const (
	maxSummaries = 1000
	maxSummary   = 800
)

// Summary keeps a title by a hash: of the uuid of the record that it names, or of the task
// of a sub-agent. The record may be of another session: the tool writes titles into its
// current file, and the record says whose they are.
func (f *Facts) Summary(of uint64, title string) {
	if f.Summaries == nil {
		f.Summaries = map[uint64]string{}
	}
	if _, known := f.Summaries[of]; known || len(f.Summaries) < maxSummaries {
		f.Summaries[of] = strings.ToValidUTF8(title[:min(len(title), maxSummary)], "")
	}
}

// OtherName replaces names beyond a limit.
const OtherName = "(other)"

// maxKind is the longest name of an unknown kind that is reported, in bytes.
const maxKind = 100

// Spend notes the usage that a record of a response has, an object with members of these names.
// It returns what it noted, nil for nothing.
func (f *Facts) Spend(at int32, id uint64, model string, raw []byte, names *TokenNames) *Spent {
	s := Spent{ID: id, At: at}
	if model != "" {
		if !slices.Contains(f.Models, model) && len(f.Models) >= MaxUnknown {
			model = OtherName
		}
		if !slices.Contains(f.Models, model) {
			f.Models = append(f.Models, model)
		}
		s.Model = uint16(slices.Index(f.Models, model) + 1)
	}
	m := Members(raw, names[:]...)
	for i, n := range m {
		if v, ok := pyjson.Int(n); ok {
			s.Tokens[i], s.Has = uint32(min(max(v, 0), math.MaxUint32)), s.Has|1<<i
		}
	}
	if s.Has == 0 && s.Model == 0 {
		return nil
	}
	f.spending.add(s)
	return &f.spending.last[len(f.spending.last)-1]
}

// join adds the usage in a later record of the response: numbers only grow.
func (s *Spent) join(later Spent) {
	for i, n := range later.Tokens {
		s.Tokens[i] = max(s.Tokens[i], n)
	}
	s.Has |= later.Has
	if later.Model != 0 {
		s.Model = later.Model
	}
}

// preserved describes the records that the last compaction kept word for word: the tool
// hangs the records from tail back to head behind the record anchor, and the records that
// followed anchor behind tail. It resumes nothing else from before the compaction.
type preserved struct {
	head, tail, anchor int32 // -1: nothing
	boundary           int32 // the last compaction
}

// boundaries are the compactions that a file has, by hashes of uuids.
type boundaries struct {
	Last, At           int32 // the last compaction; the last compaction that kept records
	Head, Tail, Anchor uint64
}

// Notes are the facts about lines and their parts that a report has.
type Notes struct {
	Lines   int
	Blocks  map[string]int
	Names   map[string]int // which are not known
	Damaged []LineError
	Torn    error // names the files that are not whole
}

// NewNotes returns notes of nothing.
func NewNotes() *Notes { return &Notes{Blocks: map[string]int{}, Names: map[string]int{}} }

// maxDamaged is how many damaged lines a report names.
const maxDamaged = 1000

// MaxUnknown is how many different unknown names a report has.
const MaxUnknown = 100

// Unknown counts a name that is not known. A name that may be text of a person
// is not reported.
func (n *Notes) Unknown(what, name string) {
	if !isName(strings.ReplaceAll(name, ".", "")) {
		name = OtherName
	}
	name = what + " " + name
	if _, known := n.Names[name]; !known && len(n.Names) >= MaxUnknown {
		name = what + " " + OtherName
	}
	n.Names[name]++
}

// block counts a part of a message that has no place.
func (n *Notes) block(kind string) {
	if !isName(kind) || len(n.Blocks) >= MaxUnknown {
		kind = OtherName
	}
	n.Blocks[kind]++
}

// isName reports whether a text looks like a word of a format.
func isName(s string) bool {
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return s != "" && len(s) <= 40
}
