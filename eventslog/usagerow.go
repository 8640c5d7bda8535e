package eventslog

import (
	"encoding/binary"
	"strconv"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/internal/store/capture"
	"github.com/amplifier-go/sessionstorage/internal/store/decimal"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
)

// The names of the event with which a call of a tool ends.
const (
	toolPost  = "tool:post"
	toolError = "tool:error"
)

// identity is a hash by which an event is found again in other logs.
type identity [16]byte

// identify returns the identity of an event of a kind with these parts.
func identify(kind byte, parts ...string) identity {
	b := []byte{kind}
	for _, p := range parts {
		b = append(binary.AppendUvarint(b, uint64(len(p))), p...)
	}
	return xxh3.Hash128(b).Bytes()
}

// response is a response of a model, as a row records it.
type response struct {
	Usage
	id string // given by the provider; "" if not recorded
	at string // as recorded
}

func readResponse(e capture.Event) response {
	beside := turns.Members(e.Row, "timestamp", "ts", "duration_ms", "status")
	r := response{Usage: Usage{Responses: 1, Cost: "0"}, at: timeText(beside[0], beside[1])}
	r.At = pytime.Of(r.at)
	inside := turns.Members(e.Data, "provider", "model", "duration_ms", "status")
	r.Provider, r.Model = text(inside[0]), text(inside[1])
	ms := beside[2] // where the logging hook puts it
	if ms == nil {
		ms = inside[2]
	}
	r.Time = millis(ms)
	if text(beside[3]) == "error" || text(inside[3]) == "error" {
		r.Failed = 1
	}
	more := turns.Members(e.Data, "response_id", "raw", "usage")
	if r.id = text(more[0]); r.id == "" {
		r.id = text(turns.Members(more[1], "id")[0])
	}
	r.Exact = r.id != ""
	r.readUsage(more[2])
	return r
}

// readUsage reads the member usage. Each number has had several names.
func (r *response) readUsage(usage []byte) {
	in := turns.Members(usage, "input_tokens", "input")
	out := turns.Members(usage, "output_tokens", "output", "reasoning_tokens", "reasoning")
	read := turns.Members(usage, "cache_read_tokens", "cache_read", "cache_read_input_tokens")
	write := turns.Members(usage, "cache_write_tokens", "cache_write", "cache_creation_input_tokens", "cost_usd")
	r.Input, r.Output, r.Reasoning = firstCount(in[:2]), firstCount(out[:2]), firstCount(out[2:])
	r.CacheRead, r.CacheWrite = firstCount(read[:3]), firstCount(write[:3])
	if r.CacheRead > r.Input || read[0] == nil && read[1] == nil && read[2] != nil { // input without cached tokens: of older tools, or as Anthropic names it
		r.Input += r.CacheRead
	}
	if cost, ok := decimal.FromJSON(write[3]); ok {
		r.Cost, r.Priced = cost.String(), 1
	}
}

// identity returns the hash by which the response is found again in other logs, and false
// if it has none.
func (r *response) identity() (identity, bool) {
	if r.id != "" {
		return identify('i', r.id, r.Provider, r.Model), true
	}
	if r.at == "" {
		return identity{}, false
	}
	var numbers []byte
	for _, n := range [...]int64{int64(r.Time), r.Input, r.CacheRead, r.CacheWrite, r.Output, r.Reasoning} {
		numbers = binary.AppendVarint(numbers, n)
	}
	cost := ""
	if r.Priced > 0 {
		cost = r.Cost
	}
	return identify('r', r.at, r.Provider, r.Model, string(numbers), cost), true
}

// toolCall is a call of a tool that ended, as a row records it.
type toolCall struct{ event, at, tool, call string }

func readToolCall(e capture.Event) toolCall {
	beside := turns.Members(e.Row, "timestamp", "ts")
	inside := turns.Members(e.Data, "tool_name", "tool")
	c := toolCall{event: e.Name, at: timeText(beside[0], beside[1]), tool: text(inside[0]), call: e.Ref().CallID}
	if c.tool == "" {
		c.tool = text(inside[1])
	}
	return c
}

func (c *toolCall) identity() (identity, bool) {
	return identify('t', c.event, c.at, c.tool, c.call), c.at != ""
}

// timeText returns the text of the time of an event.
func timeText(timestamp, ts []byte) string {
	if at := text(timestamp); at != "" {
		return at
	}
	return text(ts)
}

// maxCount is the largest number of tokens that is believed.
const maxCount = 1 << 40

// count returns a number of things, and 0 for any other value.
func count(raw []byte) int64 {
	if n, ok := pyjson.Int(raw); ok && n >= 0 && n <= maxCount {
		return n
	}
	return 0
}

// maxMillis is the longest duration that is believed, some weeks.
const maxMillis = 1 << 32

// millis returns a number of milliseconds as a duration, and 0 for any other value.
func millis(raw []byte) time.Duration {
	if raw == nil {
		return 0
	}
	n, err := strconv.ParseFloat(string(pyjson.First(raw)), 64)
	if err != nil || !(n >= 0 && n <= maxMillis) {
		return 0
	}
	return time.Duration(n * float64(time.Millisecond))
}

// firstCount returns the first number that is recorded.
func firstCount(all [][]byte) int64 {
	for _, raw := range all {
		if raw != nil && pyjson.KindOf(raw) != pyjson.Null {
			return count(raw)
		}
	}
	return 0
}
