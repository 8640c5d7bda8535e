package foreign

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// rendering makes the messages of a line of the conversation, in order. What it
// keeps back is one message of each side:
//
//	prompt    prompts without an answer between them, which become one message
//	asides    what the tool wrote behind them in the user's name
//	answer    a response that may go on
//
// At most one of prompt and answer is there. An answer goes out with the results
// of its calls behind it.
type rendering struct {
	t      *table
	format format
	in     *input
	chain  []int32
	from   origin
	report *Report
	emit   func(sessionstore.Message) error

	numbers  []int32 // of messages by record; below 0 a reason, see reasons; 0: none yet
	messages int
	turns    int
	here     *hereRows
	next     func() (sessionstore.Message, error, bool) // the next message of the session that here is of
	row      int                                        // how many of them were read
	fromHere int                                        // and sent out
	waiting  []sessionstore.ToolCall                    // calls of the last one that have no result
	shared   int                                        // turns before the first one of its own
	first    string                                     // the first line of the first prompt, by which lists call a session without a name
	own      string                                     // what the first own prompt that a person typed is called by
	command  string                                     // the same of the first own command
	model    string
	usage    map[string]*usage

	prompt   *said
	asides   []said
	answer   *response
	owing    bool // results went out, and no answer behind them
	open     bool // a prompt went out, and no answer behind it
	used     map[string]int
	lastTime time.Time
}

// said is a message of the user that has not gone out.
type said struct {
	userParts
	lines []int32
	at    time.Time
}

// response is a message of the model that has not gone out.
type response struct {
	answerParts
	lines  []int32
	caller []int32 // by call: the line
	hashes []uint64
	at     time.Time
}

// note takes a record that tells the model or what was used.
func (r *rendering) note(at int32) error {
	p, err := r.read(at)
	if err != nil {
		return err
	}
	model, used := p.spent()
	r.model = firstOf(model, r.model)
	if used != (usage{}) {
		r.spend(used)
	}
	return nil
}

// spend counts what the model used.
func (r *rendering) spend(u usage) {
	model := firstOf(r.model, "unknown")
	if r.usage[model] == nil {
		r.usage[model] = &usage{}
	}
	r.usage[model].add(u)
}

// read returns what a record says.
func (r *rendering) read(at int32) (part, error) {
	offset := r.t.records.at(at).offset
	raw, err := r.in.line(offset)
	if err != nil {
		return nil, err
	}
	p, err := r.format.part(raw, offset, r.t.nth(at))
	if err != nil {
		return nil, &LineError{int(r.t.line(at)) + 1, ErrChanged}
	}
	if t := p.time(); !t.IsZero() {
		r.lastTime = t
	}
	return p, nil
}

// payAnswer sends out an answer where results have none.
func (r *rendering) payAnswer() error {
	if !r.owing {
		return nil
	}
	r.owing, r.open = false, false
	return r.add("assistant", noAnswer)
}

// add sends out a message that the tool's file does not have.
func (r *rendering) add(role, said string) error {
	m, err := sessionstore.Text(role, said, r.lastTime)
	m, err = r.origin(r.lastTime, nil).finish(m, err)
	return r.send(m, err, nil)
}

func (r *rendering) origin(at time.Time, records []int32) origin {
	o := r.from
	o.at = at
	for _, rec := range records {
		o.lines = append(o.lines, r.t.line(rec))
	}
	return o
}

// send hands a message out and notes its number for its lines.
func (r *rendering) send(m sessionstore.Message, err error, lines []int32) error {
	if err != nil {
		if len(lines) > 0 {
			return &LineError{int(r.t.line(lines[0])) + 1, err}
		}
		return err
	}
	if err := r.emit(m); err != nil {
		return err
	}
	r.messages++
	for _, at := range lines {
		if r.numbers[at] <= 0 {
			r.numbers[at] = int32(r.messages)
		}
	}
	return nil
}

// why returns why a line became no message of this rendering.
func (r *rendering) why(at int32) string {
	rec := r.t.records.at(at)
	switch {
	case r.numbers[at] < 0:
		return reasons[-1-r.numbers[at]]
	case rec.is(isBlank):
		return whyBlank
	case rec.is(isDamaged):
		return whyDamaged
	case rec.is(isUnknown):
		return whyUnknown
	case rec.is(isRepeated):
		return whyRepeated
	case rec.is(isSidechain):
		return whyAgent
	case r.t.scope == wholeLine && rec.is(isSummary|isCopied|isBoundary):
		return whySummary
	case rec.is(isUser | isAssistant):
		return whyBranch
	}
	return whyBookkeep
}

// maxPrompts is how much text of prompts stands before the summary of a
// compaction, in bytes.
const maxPrompts = 80_000

// expand puts the last prompts before a compaction ahead of its summary, where the
// line begins with one that does not list them.
func (r *rendering) expand() error {
	if len(r.chain) == 0 || !r.t.records.at(r.chain[0]).is(isCompacted) {
		return nil
	}
	var prompts []int32
	size := 0
	for at := r.before(r.chain[0]); at >= 0 && size < maxPrompts; at = r.before(at) {
		if !r.t.records.at(at).is(isPerson) {
			continue
		}
		p, err := r.read(at)
		if err != nil {
			return err
		}
		for _, s := range p.user().said {
			size += len(s)
		}
		prompts = append(prompts, at)
	}
	slices.Reverse(prompts)
	r.chain = append(prompts, r.chain...)
	return nil
}

// before returns the record before another one, also before a compaction.
func (r *rendering) before(at int32) int32 {
	rec := r.t.records.at(at)
	if rec.is(isCompacted) {
		return int32(rec.key) - 1
	}
	return rec.parent
}

// news looks for new messages: the tool wrote them behind the part of the file that the
// session keeps. It reports whether there is any, whether all messages after the first n are
// new, and how many turns the new ones begin.
func (r *rendering) news(known int64, n int) (any, behind bool, turns int) {
	last := int32(0)
	behind = true
	for at, number := range r.numbers {
		if number <= 0 {
			continue
		}
		rec := r.t.records.at(int32(at))
		isNew := rec.offset >= known && !r.t.isMarked(int32(at))
		any, behind = any || isNew, behind && (isNew || int(number) <= n)
		if isNew && rec.is(isPerson) && number != last {
			turns, last = turns+1, number
		}
	}
	return any, behind, turns
}

// hereRows are the messages of a session that a file has as they are: what was said here.
type hereRows struct {
	lines []hereLine // in the order of records
	rows  iter.Seq2[sessionstore.Message, error]
}

// hereLine is a record that was made of a message. The messages from first to last go out with
// it: its own one, and those beside it that no line is made of. last is 0 for the other records
// of that message.
type hereLine struct{ at, first, last int32 }

// of returns the line of a record, and whether an export made it.
func (o *hereRows) of(at int32) (l hereLine, found bool) {
	if o == nil {
		return l, false
	}
	i, found := slices.BinarySearchFunc(o.lines, at, func(l hereLine, at int32) int { return cmp.Compare(l.at, at) })
	if found {
		l = o.lines[i]
	}
	return l, found
}
