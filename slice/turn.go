package slice

import (
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Turn is a turn of a conversation: the messages from index Start up to, and
// without, index End.
type Turn struct{ Start, End int }

// Turns returns the turns of a conversation in order. Every user message without
// a tool_result begins a turn, even if a tool wrote it in the user's name (see
// [IsRealUser]). Messages before the first turn belong to no turn.
func Turns(msgs []sessionstore.Message) iter.Seq[Turn] {
	return func(yield func(Turn) bool) {
		start := -1
		for i, m := range msgs {
			if m.Role() != "user" {
				continue
			}
			if !readRow(m).Begins {
				continue
			}
			if start >= 0 && !yield(Turn{start, i}) {
				return
			}
			start = i
		}
		if start >= 0 {
			yield(Turn{start, len(msgs)})
		}
	}
}

// CountTurns returns the number of turns.
func CountTurns(msgs []sessionstore.Message) (n int) {
	for range Turns(msgs) {
		n++
	}
	return n
}

// IsRealUser reports whether a person wrote the message: its role is user, it
// has no tool_call_id, no text of it begins with <system-reminder>, and it is
// more than results of tools.
func IsRealUser(m sessionstore.Message) bool {
	return m.Role() == "user" && readRow(m).Real
}

// IsPrompt reports whether the message is a prompt of a person by the stricter rule of the
// newest tools, by which events are tied to messages: its role is user, it has no
// tool_call_id, no text of it begins with <system-reminder>, no block of it names the call
// of which it is the result, and metadata.ephemeral, by which hosts mark their own
// messages, is missing or false in Python's sense.
func IsPrompt(m sessionstore.Message) bool {
	return m.Role() == "user" && turns.IsPrompt(core.From(m, "content"), core.From(m, "metadata"), core.From(m, "tool_call_id") != nil)
}

// findTurn returns one turn, and does not read the messages after it. If there is no such
// turn, ok is false and count is the number of all turns.
func findTurn(msgs []sessionstore.Message, turn int) (found Turn, count int, ok bool) {
	for t := range Turns(msgs) {
		count++
		if count == turn {
			return t, count, true
		}
	}
	return Turn{}, count, false
}

// endOf returns the index behind a turn. The errors have the reference's words.
func endOf(msgs []sessionstore.Message, turn int) (int, error) {
	if turn < 1 {
		return 0, limits.Reference(nil, fmt.Sprintf("Turn must be >= 1, got %d", turn))
	}
	found, count, ok := findTurn(msgs, turn)
	switch {
	case count == 0:
		return 0, limits.Reference(nil, "No user messages found in conversation")
	case !ok:
		return 0, limits.Reference(nil, fmt.Sprintf("Turn %d exceeds max turns (%d). Valid range: 1-%d", turn, count, count))
	}
	return found.End, nil
}

// turnsMessage is a message as package turns looks at it.
type turnsMessage struct{ sessionstore.Message }

func (m turnsMessage) From(name string) []byte { return core.From(m.Message, name) }
func (m turnsMessage) Blocks() []byte          { return core.Blocks(m.Message) }

// readRow looks into one message. The row keeps none of its bytes.
func readRow(m sessionstore.Message) turns.Row { return turns.Read(turnsMessage{m}) }

// messagesPerWorker is the number of messages that is worth another goroutine.
const messagesPerWorker = 2048

// readRows looks into every message once. It uses several goroutines for long
// conversations, and all have ended when it returns.
func readRows(msgs []sessionstore.Message) []turns.Row {
	rows := make([]turns.Row, len(msgs))
	workers := max(1, min(runtime.GOMAXPROCS(0), len(msgs)/messagesPerWorker))
	part := (len(msgs) + workers - 1) / workers
	var group sync.WaitGroup
	for from := part; from < len(msgs); from += part {
		to := min(from+part, len(msgs))
		group.Go(func() { readInto(rows[from:to], msgs[from:to]) })
	}
	readInto(rows[:min(part, len(rows))], msgs)
	group.Wait()
	return rows
}

func readInto(rows []turns.Row, msgs []sessionstore.Message) {
	for i := range rows {
		rows[i] = readRow(msgs[i])
	}
}

// Window returns the last turns of a conversation, at most maxTurns of them. It
// returns more where a result would be separated from its call. If the
// conversation has no more than maxTurns turns it returns all of it, else it
// leaves out the messages before the first turn. If maxTurns is not positive it
// returns nil.
//
// The result shares the memory of msgs. Window reads from the end: when every
// result of the window has its call there, the time depends on the window's
// length alone.
func Window(msgs []sessionstore.Message, maxTurns int) []sessionstore.Message {
	if maxTurns <= 0 {
		return nil
	}
	open := map[string]bool{} // ids of the results behind index i whose call is not
	turns := 0
	for i := len(msgs) - 1; i >= 0; i-- {
		r := readRow(msgs[i])
		for _, k := range r.Results() {
			open[k.ID] = true
		}
		for _, k := range r.Calls() {
			if k.Named {
				delete(open, k.ID)
			}
		}
		if !r.Begins {
			continue
		}
		if turns++; turns < maxTurns {
			continue
		}
		if len(open) > 0 {
			return wholeWindow(msgs, maxTurns)
		}
		if CountTurns(msgs[:i]) > 0 {
			return slices.Clip(msgs[i:])
		}
		break
	}
	return slices.Clip(msgs)
}

// wholeWindow is Window for a window that must begin before the last maxTurns
// turns. It reads the whole conversation.
func wholeWindow(msgs []sessionstore.Message, maxTurns int) []sessionstore.Message {
	rows := readRows(msgs)
	starts := startsOf(rows)
	if len(starts) <= maxTurns {
		return slices.Clip(msgs)
	}
	parts := partedBefore(rows)
	for n := len(starts) - maxTurns; n >= 0; n-- {
		if parts[starts[n]] == 0 {
			return slices.Clip(msgs[starts[n]:])
		}
	}
	return slices.Clip(msgs)
}

// startsOf returns the indexes of the messages that begin turns.
func startsOf(rows []turns.Row) (starts []int) {
	for i, r := range rows {
		if r.Begins {
			starts = append(starts, i)
		}
	}
	return starts
}

// partedBefore returns for every index how many results at or behind it answer
// calls before it.
func partedBefore(rows []turns.Row) []int {
	parts := make([]int, len(rows)+1)
	m := turns.Match(rows)
	for i, call := range m.Nearest() {
		if call >= 0 {
			parts[call+1]++
			parts[m.Results[i].Row+1]--
		}
	}
	for i := 1; i < len(parts); i++ {
		parts[i] += parts[i-1]
	}
	return parts
}

// LastTimestamp returns the last time in a turn, as the text in the message: its
// timestamp, ts, or metadata.timestamp. It returns "" when the turn has no time.
// Values that are no strings count as missing. It fails, with the text of the
// reference, when there is no such turn.
func LastTimestamp(msgs []sessionstore.Message, turn int) (string, error) {
	t, count, ok := findTurn(msgs, turn)
	switch {
	case count == 0:
		return "", limits.Reference(nil, "No user messages found in transcript")
	case !ok:
		return "", limits.Reference(nil, fmt.Sprintf("Turn %d out of range (1-%d)", turn, count))
	}
	for i := t.End - 1; i >= t.Start; i-- {
		if text := timestampOf(msgs[i]); text != "" {
			return text, nil
		}
	}
	return "", nil
}

func timestampOf(m sessionstore.Message) string {
	found := turns.Members(m.AppendTo(nil), "timestamp", "ts", "metadata")
	for _, raw := range [][]byte{found[0], found[1], turns.Members(found[2], "timestamp")[0]} {
		if pyjson.KindOf(raw) == pyjson.String {
			if text := pyjson.Text(raw); text != "" {
				return text
			}
		}
	}
	return ""
}

// lastTime returns the last time in msgs that can be read, and false if there is
// none.
func lastTime(msgs []sessionstore.Message) (time.Time, bool) {
	for i := len(msgs) - 1; i >= 0; i-- {
		if at, ok := msgs[i].Timestamp(); ok {
			return at, true
		}
	}
	return time.Time{}, false
}

// cutBetween returns the time at which a rewind cuts the log: the last time of
// the messages that are left, or, if these have no time, one nanosecond before
// the first time of all messages. It returns false if no message has a time.
func cutBetween(left, all []sessionstore.Message) (time.Time, bool) {
	if at, ok := lastTime(left); ok {
		return at, true
	}
	for _, m := range all {
		if at, ok := m.Timestamp(); ok {
			return at.Add(-1), true
		}
	}
	return time.Time{}, false
}

// TurnSummary describes a turn.
type TurnSummary struct {
	Turn      int    `json:"turn"`
	User      string `json:"user_content"`      // the first text of the last user message that has one
	Assistant string `json:"assistant_content"` // the first text that is not empty
	Tools     int    `json:"tool_count"`
	Messages  int    `json:"message_count"`
}

// Summarize describes a turn, counted from 1. A text of more than maxLength characters is
// cut and three dots are added. Lone surrogates become U+FFFD. A call that is both in
// tool_calls and in content counts once. If there is no such turn, the text of the error is
// the reference's.
func Summarize(msgs []sessionstore.Message, turn, maxLength int) (TurnSummary, error) {
	t, count, ok := findTurn(msgs, turn)
	if !ok {
		return TurnSummary{}, limits.Reference(nil, fmt.Sprintf("Turn %d out of range (1-%d)", turn, count))
	}
	s := TurnSummary{Turn: turn, Messages: t.End - t.Start}
	for _, m := range msgs[t.Start:t.End] {
		switch m.Role() {
		case "user":
			s.addUser(turns.Members(m.AppendTo(nil), "content")[0], maxLength)
		case "assistant":
			s.addAssistant(turns.Members(m.AppendTo(nil), "content", "tool_calls"), maxLength)
		}
	}
	return s, nil
}

func (s *TurnSummary) addUser(content []byte, maxLength int) {
	if list := texts(content); len(list) > 0 {
		s.User = cut(list[0], maxLength)
	}
}

func (s *TurnSummary) addAssistant(found [4][]byte, maxLength int) {
	for _, text := range texts(found[0]) {
		if s.Assistant == "" {
			s.Assistant = cut(text, maxLength)
		}
	}
	listed := map[string]bool{}
	for raw := range pyjson.Elements(found[1]) {
		s.Tools++
		if id, ok := turns.IDOf(turns.Members(raw, "id")[0]); ok {
			listed[id] = true
		}
	}
	for block := range pyjson.Elements(found[0]) {
		if !turns.IsBlock(block, "tool_use") {
			continue
		}
		if id, ok := turns.IDOf(turns.Members(block, "id")[0]); !ok || !listed[id] {
			s.Tools++
		}
	}
}

// texts returns the content if it is a text, else the texts of its blocks.
func texts(content []byte) (list []string) {
	if pyjson.KindOf(content) == pyjson.String {
		return []string{pyjson.Text(content)}
	}
	for block := range pyjson.Elements(content) {
		if !turns.IsBlock(block, "text") {
			continue
		}
		list = append(list, pyjson.Text(turns.Members(block, "text")[0]))
	}
	return list
}

// cut returns the first n characters of a text, with three dots if there are
// more.
func cut(text string, n int) string {
	first := limits.Runes(text, max(0, n))
	if len(first) < len(text) {
		first += "..."
	}
	return first
}
