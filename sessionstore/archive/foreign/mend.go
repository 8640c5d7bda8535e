package foreign

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// ErrUnmended is the kind of error of an export that cannot be changed so that the provider
// accepts it.
var ErrUnmended = errors.New("the provider would refuse the conversation, and it cannot be mended")

// ExportOptions control an export. A nil *ExportOptions is the zero value.
type ExportOptions struct {
	// For is what the tool sends the conversation to: the export is changed as
	// [accept.Target.Fix] says, the session is not. nil is the target that [Target] returns.
	For *accept.Target

	// AsItIs leaves in the export what the provider refuses.
	AsItIs bool
}

// Change is a change of an export, without which the provider would refuse it.
type Change struct {
	Kind    accept.AmendKind
	Message int // number of the session's message; of an inserted one, of the message before it, 0 for none
	Reasons []accept.Reason
}

// part is a run of messages of a session of which an export makes other messages.
type part struct {
	first, last int // from 1
	msgs        []sessionstore.Message
	changed     bool
	seal        string // see seal
}

// mend returns the parts of a session that an export changes, in order. It holds the
// messages in memory only if one has to change.
func mend(ctx context.Context, st *sessionstore.Store, id string, tool thread.Tool, opts *ExportOptions) ([]part, []Change, error) {
	target := Target(Tool(tool.Name()))
	if opts != nil && opts.For != nil {
		target = *opts.For
	}
	if opts != nil && opts.AsItIs {
		return nil, nil, nil
	}
	all := shownOf(st.Messages(ctx, id))
	refused, err := target.CheckAll(all)
	if err != nil || !slices.ContainsFunc(refused, func(r accept.Refusal) bool { return !r.Disputed }) {
		return nil, nil, err
	}
	var rows []sessionstore.Message
	for m, err := range all {
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, m)
	}
	fixed, err := target.Fix(rows)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrUnmended, err)
	}
	s := newSpeaker(tool, id)
	var parts []part
	for _, p := range s.join(partsOf(rows, fixed)) {
		var want []uint64
		for i := p.first; i <= p.last; i++ {
			want = append(want, s.says(i, rows[i-1])...)
		}
		if p.first < p.last || !slices.Equal(want, s.says(p.first, p.msgs...)) { // else the tool's lines do not have what changed
			p.seal = seal(p.last, want, s.said(s.out.mended(p)))
			parts = append(parts, p)
		}
	}
	var changes []Change
	for _, a := range fixed.Amendments {
		n := a.Row + 1
		if a.Kind == accept.Inserted {
			n = a.Row
		}
		i, _ := slices.BinarySearchFunc(parts, isOf(a)+1, func(p part, n int) int { return cmp.Compare(p.last, n) })
		if i < len(parts) && parts[i].first <= isOf(a)+1 {
			changes = append(changes, Change{a.Kind, n, a.Reasons})
		}
	}
	return parts, changes, nil
}

// shownOf yields messages without the blocks that no line of a tool has, such as documents: a
// message of nothing else would be empty.
func shownOf(msgs iter.Seq2[sessionstore.Message, error]) iter.Seq2[sessionstore.Message, error] {
	return func(yield func(sessionstore.Message, error) bool) {
		for m, err := range msgs {
			content, _ := m.Lookup("content")
			var blocks [][]byte
			n := 0
			for block := range pyjson.Elements(content) {
				if n++; slices.Contains(shownBlocks, thread.Text(thread.Members(block, "type")[0])) {
					blocks = append(blocks, block)
				}
			}
			if err == nil && len(blocks) < n {
				list := slices.Concat([]byte("["), bytes.Join(blocks, []byte(", ")), []byte("]"))
				m, err = sessionstore.ParseMessage(pyjson.Splice(m.AppendTo(nil), "content", list))
			}
			if !yield(m, err) {
				return
			}
		}
	}
}

// shownBlocks are the types of blocks that lines have, and of those that package accept knows to
// be left out.
var shownBlocks = []string{"text", "image", "tool_result", "tool_use", "tool_call", "thinking", "redacted_thinking"}

// isOf returns the index of the part that an amendment is of. A message that is inserted
// because of the next one is of the next one's part, so that the lines of a session that goes on
// stay as they are; the result of a call is of the part before.
func isOf(a accept.Amendment) int {
	if a.Kind != accept.Inserted || a.Row == 0 || slices.Contains(a.Reasons, accept.RolesInARow) {
		return a.Row
	}
	return a.Row - 1
}

// partsOf returns a part for each message.
func partsOf(rows []sessionstore.Message, fixed accept.Fixed) []part {
	parts := make([]part, len(rows))
	for i, m := range rows {
		parts[i] = part{first: i + 1, last: i + 1, msgs: []sessionstore.Message{m}}
	}
	for _, a := range fixed.Amendments {
		p := &parts[min(isOf(a), len(parts)-1)]
		_, half := pyjson.Paired(a.Old.AppendTo(nil))
		switch {
		case !half && len(a.Reasons) == 1 && a.Reasons[0] == accept.BadArguments:
			continue // each export makes an object of them
		case a.Kind == accept.Replaced:
			p.msgs[len(p.msgs)-1] = a.New
		case a.Kind == accept.Dropped:
			p.msgs = p.msgs[:len(p.msgs)-1]
		case isOf(a) == a.Row && a.Row < len(parts):
			p.msgs = slices.Insert(p.msgs, max(0, len(p.msgs)-1), a.New)
		default:
			p.msgs = append(p.msgs, a.New)
		}
		p.changed = true
	}
	return parts
}

// speaker makes the lines of messages to see what they say.
type speaker struct {
	out *making
	b   bytes.Buffer
}

func newSpeaker(tool thread.Tool, session string) *speaker {
	s := &speaker{}
	s.out = newMaking(tool, "", session, sessionstore.Metadata{}, &s.b)
	return s
}

// says returns what the lines of messages say, which have the number n.
func (s *speaker) says(n int, msgs ...sessionstore.Message) []uint64 {
	var failed error
	for _, m := range msgs {
		failed = errors.Join(failed, s.out.message(m, n, "", ""))
	}
	return s.said(failed)
}

// before returns what the lines of a message say that exports made when they left out the
// pictures in results.
func (s *speaker) before(n int, m sessionstore.Message) []uint64 {
	s.out.plain = true
	defer func() { s.out.plain = false }()
	return s.says(n, m)
}

// said returns what the lines say that were made since the last call.
func (s *speaker) said(failed error) (all []uint64) {
	if errors.Join(failed, s.out.w.Flush()) != nil {
		all = append(all, 0) // no export has it
	}
	for row := range bytes.Lines(s.b.Bytes()) {
		all = append(all, s.out.format.Says(row))
	}
	s.b.Reset()
	return all
}

// join returns the parts that changed. One without a line, by which it would be known when
// the export comes home, is joined to the part before it; the first one, to the next.
func (s *speaker) join(all []part) (changed []part) {
	mute := func(p part) bool { return p.changed && len(s.says(p.first, p.msgs...)) == 0 }
	var parts []part
	for _, p := range all {
		if n := len(parts); n > 0 && (mute(p) || mute(parts[n-1])) {
			last := &parts[n-1]
			last.last, last.msgs, last.changed = p.last, append(last.msgs, p.msgs...), true
			continue
		}
		parts = append(parts, p)
	}
	return slices.DeleteFunc(parts, func(p part) bool { return !p.changed })
}

// seal returns what tells the lines of a part: its last message, the number of its lines, and
// a sum of what the lines of its messages would say and what its own lines say.
func seal(last int, want, said []uint64) string {
	sum := xxh3.New()
	for _, n := range slices.Concat([]uint64{uint64(len(want))}, want, said) {
		_, _ = sum.Write(binary.BigEndian.AppendUint64(nil, n))
	}
	return fmt.Sprintf("%d/%d/%016x", last, len(said), sum.Sum64())
}

// maxPart is how many messages the part may have that findMended finds.
const maxPart = 1000

// findMended returns the lines of a file that an export made of messages that it changed, which
// are unchanged here, in the order of messages. marks are in that order, too.
func (s *speaker) findMended(f *thread.File, rows iter.Seq2[sessionstore.Message, error], marks []thread.Mark) (lines []thread.HereLine, err error) {
	if len(f.Table.Seals) == 0 {
		return nil, nil
	}
	type found struct {
		marks      []thread.Mark
		last       int32
		want, said []uint64
	}
	var open []found
	n := int32(0)
	for m, err := range rows {
		n++
		if err != nil {
			return nil, err
		}
		for len(marks) > 0 && marks[0].Message <= n {
			sealed, last, size := f.Table.Seals[marks[0].At], 0, 1
			if _, err := fmt.Sscanf(sealed, "%d/%d/", &last, &size); err == nil && marks[0].Message == n && last >= int(n) && last-int(n) < maxPart && 0 < size && size <= len(marks) {
				said, err := saidBy(f, marks[:size])
				if err != nil {
					return nil, err
				}
				open = append(open, found{marks[:size], int32(last), nil, said})
			} else {
				size = 1
			}
			marks = marks[size:]
		}
		want := s.says(int(n), m)
		open = slices.DeleteFunc(open, func(c found) bool { return c.last < n })
		for i := range open {
			c := &open[i]
			if c.want = append(c.want, want...); c.last == n && seal(int(n), c.want, c.said) == f.Table.Seals[c.marks[0].At] {
				lines = append(lines, hereLines(c.marks, c.marks[0].Message, n)...)
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b thread.HereLine) int { return cmp.Compare(a.First, b.First) })
	return lines, nil
}

// firstOther returns the first message of which a file has other lines than the parts of an
// export have, 0 for none.
func firstOther(f *thread.File, chain []int32, here *thread.HereRows, parts []part) int {
	has := map[string]int{}
	if here != nil {
		for _, at := range chain {
			if l, found := here.Of(at); found && l.Last > 0 && f.Table.Seals[at] != "" {
				has[f.Table.Seals[at]] = int(l.First)
			}
		}
	}
	first := 0
	other := func(n int) {
		if first == 0 || n < first {
			first = n
		}
	}
	for _, p := range parts {
		if has[p.seal] == 0 {
			other(p.first)
		}
		delete(has, p.seal)
	}
	for _, n := range has {
		other(n)
	}
	return first
}

// standFor has no prompt of the tool's own lines make a fork for which an export, where it
// changed something, has other lines: the session has it.
func (ld *lander) standFor(ctx context.Context, tg target) error {
	t, again := tg.file.Table, map[int]bool{}
	if tg.here == nil || len(t.Seals) == 0 {
		return nil
	}
	for _, l := range tg.here.Lines {
		for n := l.First; n <= l.Last; n++ {
			again[int(n)] = true
		}
	}
	lines, err := mappedLines(ctx, ld.kept(ld.home, ld.place))
	tg.here.Instead = map[int32]int32{}
	for _, l := range lines {
		if at := t.RecordAt(l.line); at >= 0 && again[l.message] && !t.IsMarked(at) {
			t.Records.At(at).Flags &^= thread.IsPrompt
			tg.here.Instead[at] = int32(l.message)
		}
	}
	return err
}
