package thread

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Rendering makes the messages of a line of the conversation, in order. It keeps back one
// message of each side:
//
//	prompt    prompts without an answer between them, which become one message
//	asides    texts that the tool wrote behind them in the user's name
//	answer    a response that may go on
//
// At most one of prompt and answer is there. An answer goes out with the results
// of its calls behind it.
type Rendering struct {
	f     *File
	chain []int32
	notes *Notes
	emit  func(sessionstore.Message) error

	Numbers  []int32 // of messages by record; below 0 a reason, see reasons; 0: none yet
	messages int
	Turns    int
	here     *HereRows
	next     func() (sessionstore.Message, error, bool) // the next message of the session that here is of
	row      int                                        // how many of them were read
	FromHere []int32                                    // those that went out, in order
	waiting  []sessionstore.ToolCall                    // calls of the last message that have no result
	shared   int                                        // turns before the first one of its own
	early    int                                        // see Render
	First    string                                     // the first line of the first prompt, by which lists call a session without a name
	Own      string                                     // the name that the first own prompt that a person typed would give
	Command  string                                     // the same of the first own command
	Model    string
	Usage    map[string]*Usage
	Start    time.Time // when the conversation began

	prompt   *said
	asides   []said
	answer   *response
	owing    bool // results went out, and no answer behind them
	open     bool // a prompt went out, and no answer behind it
	used     map[string]int
	LastTime time.Time
}

// said is a message of the user that has not gone out.
type said struct {
	UserParts
	lines []int32
	at    time.Time
}

// response is a message of the model that has not gone out.
type response struct {
	AnswerParts
	lines  []int32
	hashes []uint64
	at     time.Time
}

// note takes a record that has the model or the usage.
func (r *Rendering) note(at int32) error {
	p, err := r.read(at)
	if err != nil {
		return err
	}
	model, used := p.Spent()
	r.Model = cmp.Or(model, r.Model)
	if used != (Usage{}) {
		r.spend(used)
	}
	return nil
}

// spend counts the usage of the model.
func (r *Rendering) spend(u Usage) {
	model := cmp.Or(r.Model, "unknown")
	if r.Usage[model] == nil {
		r.Usage[model] = &Usage{}
	}
	r.Usage[model].add(u)
}

// read returns the content of a record.
func (r *Rendering) read(at int32) (Part, error) {
	p, err := r.f.Part(at)
	if err != nil {
		return nil, err
	}
	if t, _ := p.Time(); !t.IsZero() {
		r.LastTime = t
	}
	return p, nil
}

// payAnswer sends out an answer where results have none.
func (r *Rendering) payAnswer() error {
	if !r.owing {
		return nil
	}
	r.owing, r.open = false, false
	return r.add("assistant", noAnswer)
}

// add sends out a message that the tool's file does not have.
func (r *Rendering) add(role, said string) error {
	m, err := sessionstore.Text(role, said, r.LastTime)
	return r.send(m, err, r.LastTime, nil)
}

// isEarly reports whether earlier rules made the next message.
func (r *Rendering) isEarly() bool { return r.messages < r.early }

// send hands out a message that was made of records, and notes its number for them.
func (r *Rendering) send(m sessionstore.Message, err error, at time.Time, lines []int32) error {
	if err == nil {
		m, err = r.f.withSource(m, at, lines)
	}
	if err != nil {
		if len(lines) > 0 {
			return &LineError{int(r.f.Table.Line(lines[0])) + 1, err}
		}
		return err
	}
	if err := r.emit(m); err != nil {
		return err
	}
	r.messages++
	for _, at := range lines {
		if r.Numbers[at] <= 0 {
			r.Numbers[at] = int32(r.messages)
		}
	}
	return nil
}

// why returns the number of the reason why a line became no message of this rendering.
func (r *Rendering) why(at int32) int32 {
	rec := r.f.Table.Records.At(at)
	switch {
	case r.Numbers[at] < 0:
		return r.Numbers[at]
	case rec.Is(isBlank):
		return whyBlank
	case rec.Is(isDamaged):
		return whyDamaged
	case rec.Is(IsUnknown):
		return whyUnknown
	case rec.Is(IsRepeated):
		return whyRepeated
	case rec.Is(IsSidechain):
		return whyAgent
	case r.f.Table.Scope == WholeLine && rec.Is(IsSummary|IsCopied|IsBoundary):
		return whySummary
	case rec.Is(IsUser | IsAssistant):
		return whyBranch
	}
	return whyBookkeep
}

// maxPrompts limits the text of the prompts put before the summary of a compaction, in
// bytes.
const maxPrompts = 80_000

// expand puts the last prompts before a compaction ahead of its summary, where the line
// begins with a summary that does not list them.
func (r *Rendering) expand() error {
	var prompts []int32
	size := 0
	for at := r.before(r.chain[0]); at >= 0 && size < maxPrompts; at = r.before(at) {
		if !r.f.Table.Records.At(at).Is(IsPerson) {
			continue
		}
		p, err := r.read(at)
		if err != nil {
			return err
		}
		for _, s := range p.User().Said {
			size += len(s)
		}
		prompts = append(prompts, at)
	}
	slices.Reverse(prompts)
	r.chain = append(prompts, r.chain...)
	return nil
}

// before returns the record before another one, also before a compaction.
func (r *Rendering) before(at int32) int32 {
	rec := r.f.Table.Records.At(at)
	if rec.Is(IsCompacted) {
		return int32(rec.Key) - 1
	}
	return rec.Parent
}

// News looks for new messages: the tool wrote them behind the part of the file that the
// session keeps. It reports whether there is any, whether all messages after the first n are
// new, and how many turns the new ones begin.
func (r *Rendering) News(known int64, n int) (any, behind bool, turns int) {
	last := int32(0)
	behind = true
	for at, number := range r.Numbers {
		if number <= 0 {
			continue
		}
		rec := r.f.Table.Records.At(int32(at))
		isNew := rec.Offset >= known && !r.f.Table.IsMarked(int32(at))
		any, behind = any || isNew, behind && (isNew || int(number) <= n)
		if isNew && rec.Is(IsPerson) && number != last {
			turns, last = turns+1, number
		}
	}
	return any, behind, turns
}

// HereRows are the messages of a session that a file has unchanged: they were said here.
type HereRows struct {
	Lines []HereLine // in the order of records
	Rows  iter.Seq2[sessionstore.Message, error]

	// Instead has the messages of records of the tool for which an export has other lines.
	Instead map[int32]int32
}

// HereLine is a record that was made of a message. The messages from first to last go out
// with it: its own one, and the messages beside it that have no line. last is 0 for the
// other records of that message.
type HereLine struct{ At, First, Last int32 }

// Of returns the line of a record, and whether an export made it.
func (o *HereRows) Of(at int32) (l HereLine, found bool) {
	i, found := slices.BinarySearchFunc(o.Lines, at, func(l HereLine, at int32) int { return cmp.Compare(l.At, at) })
	if found {
		l = o.Lines[i]
	}
	return l, found
}

// IsFromHere reports whether the nth message of the session that here is of went out.
func (r *Rendering) IsFromHere(n int) bool {
	_, found := slices.BinarySearch(r.FromHere, int32(n))
	return found
}

// Longer reports whether the line begins before the line that the tool would resume.
func (r *Rendering) Longer() bool {
	if r.f.Table.Scope != WholeLine || len(r.chain) == 0 {
		return false
	}
	for at := range r.f.Table.Walk(r.chain[len(r.chain)-1], ActiveLine) {
		if at == r.chain[0] {
			return false
		}
	}
	return true
}

// outcome is the result for a line: the number of the first message that it is part of, or
// the reason why there is none.
type outcome struct {
	Message int32
	UUID    uint64
	Why     string
}

// Lines yields the outcome of each line.
func (r *Rendering) Lines() iter.Seq2[int, outcome] {
	return func(yield func(int, outcome) bool) {
		for at, line := 0, 0; at < len(r.Numbers); line++ {
			o := outcome{Why: reasons[-1-r.why(int32(at))]}
			offset := r.f.Table.Records.At(int32(at)).Offset
			for ; at < len(r.Numbers) && r.f.Table.Records.At(int32(at)).Offset == offset; at++ {
				if o.Message == 0 && r.Numbers[at] > 0 {
					o.Message, o.UUID = r.Numbers[at], r.f.Table.Records.At(int32(at)).UUID
				}
			}
			if !yield(line, o) {
				return
			}
		}
	}
}

// Took reports whether a part of the line of a record was rendered.
func (r *Rendering) Took(at int32) bool {
	for line := r.f.Table.Line(at); int(at) < len(r.Numbers) && r.f.Table.Line(at) == line; at++ {
		if r.Numbers[at] != 0 {
			return true
		}
	}
	return false
}
