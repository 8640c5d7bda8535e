package accept

import (
	"iter"

	"github.com/amplifier-go/sessionstorage/internal/store/turns"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Check returns the reasons why a provider would refuse the conversation when a session is
// resumed, in the order of the messages; nothing, if it would accept it.
//
// A transcript belongs to no provider: a module translates it. Check judges the result of a
// faithful translation. Such a translation takes calls from tool_calls and from blocks
// (tool_use, tool_call), one call where both have its id; results from messages of the role
// tool and from tool_result blocks; the name of a tool from function.name, name or tool;
// arguments as an object or as its text; it puts results that follow each other into one
// message; it drops thinking where the provider has no place for it; it leaves out system
// and developer messages, which go another way and are never stored. Faults that only some
// versions of the modules mend while they send (results that are invented or skipped,
// unsigned thinking that is left out) are refused.
//
// All providers want known roles, whole characters (no half of a surrogate pair, as in a
// text that was cut in an emoji), blocks of a type that one of them takes, in messages of
// the right role, names of tools they allow, an id for every call, and for every call
// exactly one result, behind it. Further,
//
//   - Anthropic wants unique ids of letters, digits, _ and -, texts that are not
//     blank, thinking that is signed by it, begins its message (a tool that Anthropic runs
//     may be before it) and does not end it;
//   - OpenAIChat wants ids of at most 64 characters that differ within a message;
//   - OpenAIResponses wants them to differ everywhere, and reasoning items that
//     are encrypted, there once, and followed by a text or a call of their message;
//     its results may be anywhere between their call and the user's next text;
//   - Gemini wants texts that are not empty, and its own signatures;
//   - Anthropic and Gemini want arguments that are objects, the user to begin,
//     and the sides to alternate: a message that a person wrote does not follow a
//     result or another such message, as the reference demands too, and no
//     answer another. Messages that a tool wrote in the user's name
//     (see [slice.IsRealUser]) may be between them. An answer in which Anthropic paused, which
//     ends with a tool that Anthropic runs, goes on in the next message.
//
// Images whose data are in the messages are judged by their bytes, without being decoded:
// [PicturesOf] has the rules of each provider, with their sources. Check judges those of its
// own API and of a window that is not known; a [Target] names another host, a window, or other
// rules, and tells what sources disagree on. Where the width and the height are not in the
// first 256 KiB of an image, they are not judged.
//
// Messages are judged without a next prompt: a conversation may end with an answer, a
// result or a question, since the next prompt is not known. To know whether a prompt is
// accepted, append it. Check does not judge other contents of results, blocks that only
// another provider takes, other files than images, whether a tool or a model still
// exists, and whether a signature is true (it finds another provider's signature only by
// its form). Nor does it judge messages that depend on options of the request, such as
// thinking that a model wants in the last turn.
//
// It takes linear time.
func Check(p Provider, msgs []sessionstore.Message) []Refusal {
	return certain(Target{Provider: p}.Check(msgs))
}

// read examines every message on its own. It returns the part of each that is sent, and the
// reasons for which a provider would refuse it.
func (r rules) read(msgs iter.Seq2[sessionstore.Message, error]) (rows []sent, refused []Refusal, err error) {
	seen := map[string]bool{}
	var buf []byte
	for m, err := range msgs {
		if err != nil {
			return nil, nil, err
		}
		buf = m.AppendTo(buf[:0])
		s, found, _ := r.examine(m, buf, seen)
		for _, f := range found {
			refused = append(refused, Refusal{Reason: f.reason, Row: len(rows), Other: -1, CallID: f.id})
		}
		for _, why := range s.disputed {
			refused = append(refused, Refusal{Reason: why, Row: len(rows), Other: -1, Disputed: true})
		}
		for _, id := range s.reasoning {
			seen[id] = true
		}
		rows = append(rows, s)
	}
	return rows, refused, nil
}

func (m matching) refusals(rows []sent) (list []Refusal) {
	resultID := func(at ref) string { return rows[at.row].results[at.n].id }
	for _, call := range m.missing {
		list = append(list, Refusal{Reason: CallNoResult, Row: call.row, Other: -1, CallID: rows[call.row].calls[call.n].id})
	}
	for _, result := range m.stray {
		list = append(list, Refusal{Reason: ResultNoCall, Row: result.row, Other: -1, CallID: resultID(result)})
	}
	for _, result := range m.surplus {
		list = append(list, Refusal{Reason: DuplicateResult, Row: result.row, Other: -1, CallID: resultID(result)})
	}
	for _, p := range m.misplaced {
		list = append(list, Refusal{Reason: p.reason(), Row: p.result.row, Other: p.call.row, CallID: resultID(p.result)})
	}
	return list
}

// ref names a call or a result: element n of the calls or results of message row.
type ref struct{ row, n int }

// pair is a call and its result.
type pair struct{ call, result ref }

// reason returns the reason why the result of a pair is out of its place.
func (p pair) reason() Reason {
	if p.result.row < p.call.row {
		return ResultEarly
	}
	return ResultLate
}

// matching pairs results with calls, as a provider sees them.
type matching struct {
	calls   []ref // all calls, in the order of the messages
	results []ref // all results, in the order of the messages
	turns.Pairs
	misplaced []pair // where the result must be moved
	missing   []ref  // calls without a result
	stray     []ref  // results without a call
	surplus   []ref  // results of calls that have another one
}

// match gives every call its result, see [turns.Matcher.Pairs]. A user message that
// says something ends the wait for results. For a provider that wants results
// adjacent, so does any other message whose results, if it has any, cannot be
// joined with those behind it.
func (r rules) match(rows []sent) matching {
	m := matching{}
	calls, results := 0, 0
	for _, s := range rows {
		calls += len(s.calls)
		results += len(s.results)
	}
	m.calls, m.results = make([]ref, 0, calls), make([]ref, 0, results)
	found := turns.NewMatcher(calls, results)
	for i, s := range rows {
		for n, c := range s.calls {
			found.AddCall(i, turns.Key{ID: c.id, Named: c.id != ""})
			m.calls = append(m.calls, ref{i, n})
		}
	}
	for i, s := range rows {
		for n, result := range s.results {
			found.AddResult(i, turns.Key{ID: result.id, Named: result.id != ""})
			m.results = append(m.results, ref{i, n})
		}
	}
	m.Pairs = found.Pairs(turns.WaitsOf(len(rows), func(i int) bool {
		s := &rows[i]
		return s.rest == prompt || s.rest == injected || r.adjacent && s.endsWait
	}))
	m.sort()
	return m
}

// sort lists the calls and results that are not as they should be.
func (m *matching) sort() {
	for c, result := range m.Answers {
		if result < 0 {
			m.missing = append(m.missing, m.calls[c])
		}
	}
	for i, f := range m.Fates {
		result := m.results[i]
		switch f.Kind {
		case turns.Misplaced:
			m.misplaced = append(m.misplaced, pair{m.calls[f.Call], result})
		case turns.Stray:
			m.stray = append(m.stray, result)
		case turns.Surplus:
			m.surplus = append(m.surplus, result)
		}
	}
}

// answer returns the result of a call, given by its index, and false if it has
// none.
func (m *matching) answer(call int) (result ref, ok bool) {
	if i := m.Answers[call]; i >= 0 {
		return m.results[i], true
	}
	return ref{}, false
}

// position is the side to which a message belongs. row is the message's index, or -1 for a
// message that is still to be inserted.
type position struct {
	side side
	row  int
}

// positions returns the side of every message once every result is in its place. So a
// misplaced result is not reported a second time as a wrong order.
func positions(rows []sent, m matching) []position {
	leaving := map[int]int{} // how many results leave a message
	for _, list := range [][]ref{m.stray, m.surplus} {
		for _, result := range list {
			leaving[result.row]++
		}
	}
	arrives := map[int]bool{} // results come behind a message
	for _, p := range m.misplaced {
		leaving[p.result.row]++
		arrives[p.call.row] = true
	}
	for _, call := range m.missing {
		arrives[call.row] = true
	}
	list := make([]position, 0, len(rows))
	for i, s := range rows {
		if s.side == answers && leaving[i] == len(s.results) {
			s.side = s.rest
		}
		list = append(list, position{s.side, i})
		if arrives[i] {
			list = append(list, position{answers, -1})
		}
	}
	return list
}

// order calls bad for every message that breaks the alternation of the sides,
// with the message before it, or with -1 for the first message.
func (r rules) order(rows []sent, m matching, bad func(row, before int)) {
	if !r.alternate {
		return
	}
	last, before := unsent, -1
	for _, s := range positions(rows, m) {
		same := s.side == last || s.side == prompt && last == answers
		switch {
		case s.side == unsent:
			continue
		case last == unsent && s.side == assistant:
			bad(s.row, -1)
		case s.side == assistant && before >= 0 && rows[before].paused:
		case last != unsent && same && s.side != answers && s.side != injected:
			bad(s.row, before)
		}
		if s.side != injected || last == unsent || last == assistant {
			last = s.side
		}
		if s.row >= 0 {
			before = s.row
		}
	}
}
