package slice

import (
	"slices"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Accepts tells why a provider would refuse the conversation when a session is
// resumed, in the order of the messages; nothing, if it would accept it.
//
// A transcript belongs to no provider: a module translates it. Judged is what a
// faithful translation sends. It takes calls from tool_calls and from blocks
// (tool_use, tool_call), one call where both have its id; results from
// messages of the role tool and from tool_result blocks; the name of a tool
// from function.name, name or tool; arguments as an object or as its text; it
// puts results that follow each other into one message; it drops thinking
// where the provider has no place for it; it leaves out system and developer
// messages, which go another way and are never stored. What only some versions
// of the modules mend while they send (results that are invented or skipped,
// unsigned thinking that is left out) is refused.
//
// All providers want known roles, whole characters (no half of a surrogate pair, as
// a text has that was cut in an emoji), blocks of a type that one of them takes, in
// messages of the right role, names of tools they allow, an id for every call, and for
// every call exactly one result, behind it. Further,
//
//   - Anthropic wants unique ids of letters, digits, _ and -, texts that are not
//     blank, thinking that is signed by it, begins its message and does not end
//     it;
//   - OpenAIChat wants ids of at most 64 characters that differ within a message;
//   - OpenAIResponses wants them to differ everywhere, and reasoning items that
//     are encrypted, there once, and followed by a text or a call of their message;
//     its results may stand anywhere behind their call up to the user's next text;
//   - Gemini wants texts that are not empty, and its own signatures;
//   - Anthropic and Gemini want arguments that are objects, the user to begin,
//     and the sides to alternate: a message that a person wrote does not follow a
//     result or another such message, as the reference demands too, and no
//     answer another. Messages that a tool wrote in the user's name
//     (see [IsRealUser]) may stand between them.
//
// Messages are judged as they stand: a conversation may end with an answer, a
// result or a question, since the next prompt is not known. To know whether
// that is accepted, append it. Not judged are what results hold and blocks that
// only another provider takes, sizes, as those of images, whether a tool or a model
// still exists, whether a signature is true (another provider's is found only where
// its form tells), and what depends on options of the request, as thinking that a
// model wants in the last turn.
//
// It takes linear time.
func Accepts(p Provider, msgs []sessionstore.Message) []Refusal {
	r, ok := rulesOf(p)
	if !ok {
		return []Refusal{{Reason: UnknownProvider, Row: -1, Other: -1}}
	}
	rows, refused := r.read(msgs)
	_, bad := r.badIDs(rows)
	refused = append(refused, bad...)
	found := r.match(rows)
	refused = append(refused, found.refusals(rows)...)
	r.order(rows, found, func(row, before int) {
		why := RolesInARow
		if before < 0 {
			why = FirstNotUser
		}
		refused = append(refused, Refusal{Reason: why, Row: row, Other: before})
	})
	slices.SortStableFunc(refused, func(a, b Refusal) int { return a.Row - b.Row })
	return refused
}

// read examines every message on its own. It returns what is sent of each, and
// what a provider would refuse.
func (r rules) read(msgs []sessionstore.Message) (rows []sent, refused []Refusal) {
	rows = make([]sent, len(msgs))
	seen := map[string]bool{}
	var buf []byte
	for i, m := range msgs {
		buf = m.AppendTo(buf[:0])
		s, found, _ := r.examine(m, buf, seen)
		for _, f := range found {
			refused = append(refused, Refusal{f.reason, i, -1, f.id})
		}
		for _, id := range s.reasoning {
			seen[id] = true
		}
		rows[i] = s
	}
	return rows, refused
}

func (m matching) refusals(rows []sent) (list []Refusal) {
	resultID := func(at ref) string { return rows[at.row].results[at.n].id }
	for _, call := range m.missing {
		list = append(list, Refusal{CallNoResult, call.row, -1, rows[call.row].calls[call.n].id})
	}
	for _, result := range m.stray {
		list = append(list, Refusal{ResultNoCall, result.row, -1, resultID(result)})
	}
	for _, result := range m.surplus {
		list = append(list, Refusal{DuplicateResult, result.row, -1, resultID(result)})
	}
	for _, p := range m.misplaced {
		list = append(list, Refusal{p.reason(), p.result.row, p.call.row, resultID(p.result)})
	}
	return list
}
