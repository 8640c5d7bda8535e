package foreign

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// facts are what a file tells for its count.
type facts struct {
	first, last         time.Time // the earliest and the latest time
	firstText, lastText string    // as the file has them
	unread              int       // lines that could not be read
	unknown             map[string]int
	spent               []spent       // in the order of responses once the file was read
	spending            pieces[spent] // the same while the file is read
	models              []string
	goesOn              []string // the sessions in which this one goes on, as copies with ids of their own
	boundary            boundaries
	summaries           map[uint64]string // titles by the hash of the uuid of the record that they are of, or of the task of a sub-agent
	codex               codexFacts
}

// spent is what a response used: 32 bytes. Its key is that of its first record.
type spent struct {
	id     uint64 // see claudeLine.responseHash
	tokens [4]uint32
	at     int32 // its first record
	model  uint16
	has    uint8 // which of the tokens the file tells, by bits
}

// tokenNames are the names of the numbers of spent.tokens.
var tokenNames = [4]string{"input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"}

// time takes the time of a line.
func (f *facts) time(at time.Time, text string) {
	if at.IsZero() {
		return
	}
	if f.first.IsZero() || at.Before(f.first) {
		f.first, f.firstText = at, text
	}
	if f.last.IsZero() || at.After(f.last) {
		f.last, f.lastText = at, text
	}
}

func (f *facts) unknownKind(what, name string) {
	if what != "kind" {
		name = what + " " + name
	}
	if f.unknown == nil {
		f.unknown = map[string]int{}
	}
	if _, known := f.unknown[name]; !known && (len(f.unknown) >= maxUnknown || len(name) > maxKind) {
		name = otherName
	}
	f.unknown[name]++
}

// maxSummaries is how many titles of records are kept, and maxSummary how long one may
// be, in bytes.
const (
	maxSummaries = 1000
	maxSummary   = 800
)

// summary keeps a title by a hash: that of the uuid of the record that it is of, or of the
// task of a sub-agent. The record may be of another session: the tool writes titles where
// it is, and the record tells whose they are.
func (f *facts) summary(of uint64, title string) {
	if f.summaries == nil {
		f.summaries = map[uint64]string{}
	}
	if _, known := f.summaries[of]; known || len(f.summaries) < maxSummaries {
		f.summaries[of] = strings.ToValidUTF8(title[:min(len(title), maxSummary)], "")
	}
}

// otherName stands for names beyond a limit.
const otherName = "(other)"

// maxKind is the longest name of an unknown kind that is told, in bytes.
const maxKind = 100

// modelNumber returns the number of a model, from 1; 0 is that of none.
func (f *facts) modelNumber(name string) uint16 {
	if name == "" {
		return 0
	}
	if i := slices.Index(f.models, name); i >= 0 {
		return uint16(i + 1)
	}
	if len(f.models) >= maxUnknown && name != otherName {
		return f.modelNumber(otherName)
	}
	f.models = append(f.models, name)
	return uint16(len(f.models))
}

// spend notes what a record of a response tells of its use. goes tells that it is of
// the response of the one before; records of one response may stand apart, too.
func (f *facts) spend(at int32, id uint64, model string, raw []byte, goes bool) {
	s := spent{id: id, at: at, model: f.modelNumber(model)}
	m := members(raw, tokenNames[:]...)
	for i, n := range m {
		if v, ok := pyjson.Int(n); ok {
			s.tokens[i], s.has = uint32(min(max(v, 0), math.MaxUint32)), s.has|1<<i
		}
	}
	if s.has == 0 && s.model == 0 {
		return
	}
	if last := f.spending.newest(); last != nil && goes {
		last.join(s)
		return
	}
	f.spending.add(s)
}

// lastSpent returns the first record of the response that was noted last, -1 where
// none was.
func (f *facts) lastSpent() int32 {
	if last := f.spending.newest(); last != nil {
		return last.at
	}
	return -1
}

// join takes what a later record of the response tells: numbers only grow.
func (s *spent) join(later spent) {
	for i, n := range later.tokens {
		s.tokens[i] = max(s.tokens[i], n)
	}
	s.has |= later.has
	if later.model != 0 {
		s.model = later.model
	}
}

// codexFacts are what the lines of Codex tell beside the conversation.
type codexFacts struct {
	prompts   stack // events of prompts
	typed     stack // items that a person typed
	responses int
	exported  int // of them: what an export made
	calls     int
	results   int
	shell     int
	pending   []uint64       // calls that have a result sooner or later: hashes of their ids
	turns     map[string]int // by model
	total     [3]*int64      // of the last count: input, output, of the input what was cached
	base      [3]int64       // of total: what was copied from another session
	model     string         // of the last turn
}

// stack are prompts, of which a rollback takes the last ones.
type stack struct {
	all int
	on  []int32 // records
}

func (s *stack) push(at int32) { s.all, s.on = s.all+1, append(s.on, at) }

func (s *stack) drop(n int64) { s.on = s.on[:len(s.on)-int(min(n, int64(len(s.on))))] }

// maxTurnModels is how many models are told apart.
const maxTurnModels = 100

func (c *codexFacts) turn(model string) {
	if model == "" {
		return
	}
	c.model = model
	if c.turns == nil {
		c.turns = map[string]int{}
	}
	if _, known := c.turns[model]; !known && len(c.turns) >= maxTurnModels {
		model = otherName
	}
	c.turns[model]++
}

// used takes the totals of a count. A count without them changes nothing.
func (c *codexFacts) used(totals []byte, copied bool) {
	if pyjson.KindOf(totals) != pyjson.Object {
		return
	}
	m := members(totals, "input_tokens", "output_tokens", "cached_input_tokens")
	for i := range c.total {
		c.total[i] = nil
		if v, ok := pyjson.Int(m[i]); ok {
			c.total[i] = &v
			if copied {
				c.base[i] = v
			}
		}
	}
}

// preserved is what the last compaction kept word for word: the tool hangs the
// records from tail back to head behind the record anchor, and what followed anchor
// behind tail. Nothing else before the compaction is part of what it resumes.
type preserved struct {
	head, tail, anchor int32 // -1: nothing
	boundary           int32 // the last compaction
}

// boundaries are the compactions that a file tells of, by hashes of uuids.
type boundaries struct {
	last, at           int32 // the last one; the last one that kept records
	head, tail, anchor uint64
}
