package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

// longTurns is how many turns the long transcript has: of four messages each,
// the second and third a call and its result.
const longTurns = 2500

// writeLong writes a session that is read in parts, and its transcript cut
// short to another one that is read as a whole and says the same.
func (s *site) writeLong() (short int) {
	s.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	line := func(v map[string]any) { require.NoError(s, enc.Encode(v)) }
	filler := long(900)
	for i := range longTurns {
		call := fmt.Sprint("call-", i)
		line(user(fmt.Sprintf("question %d %s", i+1, filler)))
		line(map[string]any{"role": "assistant", "content": "", "tool_calls": []any{map[string]any{"id": call, "tool": "t", "arguments": map[string]any{}}}})
		line(map[string]any{"role": "tool", "tool_call_id": call, "content": filler})
		line(map[string]any{"role": "assistant", "content": fmt.Sprintf("answer %d", i+1)})
	}
	s.create(one, nil)
	s.write(one, "transcript.jsonl", out.String())
	s.create(two, nil)
	begin := out.Bytes()[:longFrom-1]
	begin = begin[:bytes.LastIndexByte(begin, '\n')+1]
	s.write(two, "transcript.jsonl", string(begin))
	return bytes.Count(begin, []byte{'\n'})
}

func (s *site) readings(id string) *readings {
	s.Helper()
	at, err := s.places.place(s.Context(), "weather")
	require.NoError(s, err)
	return at.cache.of(id)
}

// TestLongTranscript compares a long transcript, of which parts are read, with
// the beginning of it, which is read as a whole.
func TestLongTranscript(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	known := s.writeLong()
	var head messageList
	s.json(api(one)+"/messages?to=0", &head)
	require.Equal(t, 4*longTurns, head.Total)
	require.Equal(t, longTurns, head.Turns)
	for from := 0; from+100 < known; from += known/7 - 1 {
		var got, want messageList
		s.json(fmt.Sprintf("%s/messages?from=%d&to=%d&tag=%s", api(one), from, from+20, head.Tag), &got)
		s.json(fmt.Sprintf("%s/messages?from=%d&to=%d", api(two), from, from+20), &want)
		require.Equal(t, want.Rows, got.Rows)
		require.Equal(t, s.get(200, fmt.Sprintf("%s/messages/%d", api(two), from)), s.get(200, fmt.Sprintf("%s/messages/%d", api(one), from)))
		require.Equal(t, s.get(200, fmt.Sprintf("%s/messages/%d/line", api(two), from)), s.get(200, fmt.Sprintf("%s/messages/%d/line", api(one), from)))
	}
	require.JSONEq(t, `{"message": 9996}`, s.get(200, api(one)+"/turns/2500"))
	s.get(404, api(one)+"/turns/2501")
	require.Contains(t, s.get(200, page(one)), "<dt>turns</dt><dd>2500</dd>")
	require.Contains(t, s.get(200, api(one)+"/find?q=answer+2499"), `"hits":[{"n":9995,`)
	require.JSONEq(t, `{"damaged": false, "recovered": false, "broken": false, "turns": 2500, "notes": []}`, s.get(200, api(one)+"/health"))

	shot, err := s.readings(one).snapshot(t.Context())
	require.NoError(t, err)
	require.Nil(t, shot.msgs, "no message is kept")
	for _, tt := range []struct{ from, to, first, most int }{
		{5000, 5001, 5000, 1}, // a question stands alone
		{5000, 5020, 5000, 20},
		{5001, 5002, 5001, 5}, // a call, the result of which is behind it
		{5002, 5003, 4998, 5}, // a result, the call of which is before it
		{5002, 5022, 4998, 28},
		{9980, 10000, 9980, 20},
		{0, 20, 0, 20},
	} {
		part, first, turns, err := s.readings(one).around(t.Context(), tt.from, tt.to)
		require.NoError(t, err)
		require.Equal(t, []int{tt.first, (tt.first + 3) / 4}, []int{first, turns}, tt.from)
		require.GreaterOrEqual(t, part.Len(), tt.to-tt.from)
		require.LessOrEqual(t, part.Len(), tt.most, "no more is read than what belongs to it")
	}
}

// TestCallsAcrossParts shows calls with their results, up to 60 messages away, in
// parts of any place as in the whole.
func TestCallsAcrossParts(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var msgs []map[string]any
	for _, n := range []int{1, 5, 20, 60, 2} {
		var calls [][2]string
		for i := range n {
			calls = append(calls, [2]string{fmt.Sprintf("%d-%d", n, i), "ls"})
		}
		msgs = append(msgs, user("go on"), called(calls...))
		for i := range n {
			msgs = append(msgs, answered(fmt.Sprintf("%d-%d", n, i), "a file"))
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	for _, m := range append(msgs, user("the end")) {
		require.NoError(t, enc.Encode(m))
	}
	for id, end := range map[string]string{one: "", two: long(longFrom)} {
		s.create(id, nil)
		line, err := json.Marshal(user(end))
		require.NoError(t, err)
		s.write(id, "transcript.jsonl", out.String()+string(line)+"\n")
	}
	for from := range len(msgs) {
		var whole, parts messageList
		at := fmt.Sprintf("/messages?from=%d&to=%d", from, from+7)
		s.json(api(one)+at, &whole)
		s.json(api(two)+at, &parts)
		require.Equal(t, whole.Rows[:min(7, len(msgs)-from)], parts.Rows[:min(7, len(msgs)-from)], from)
	}
}

// TestLongTranscriptGrows tells of new messages, also behind a call that is
// answered by them, and of another transcript.
func TestLongTranscriptGrows(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.writeLong()
	s.add(one, map[string]any{"role": "assistant", "content": "", "tool_calls": []any{map[string]any{"id": "last", "tool": "t", "arguments": map[string]any{}}}})
	require.Contains(t, s.get(200, page(one)), "calls without a result: 1")
	var rows messageList
	s.json(api(one)+"/messages?from=10000", &rows)
	require.True(t, rows.Rows[0].Calls[0].Orphan)
	live := s.listen(api(one) + "/stream")
	id := live.next("ready").id
	s.add(one, map[string]any{"role": "tool", "tool_call_id": "last", "content": "r"})
	told := decode[toldMessages](t, live.next("transcript"))
	require.Equal(t, []int{10002, 2500, 10000}, []int{told.Total, told.Turns, told.From}, "the message with the call that is answered now")
	require.False(t, told.Rows[0].Calls[0].Orphan)
	require.Equal(t, "r", told.Rows[0].Calls[0].Result.Text.Text)
	live.close()
	again := s.listen(api(one)+"/stream", "Last-Event-ID", id)
	require.Equal(t, 10000, decode[toldMessages](t, again.next("transcript")).From)
	data, err := os.ReadFile(filepath.Join(s.dir, one, "transcript.jsonl"))
	require.NoError(t, err)
	s.write(one, "rewritten", `{"role": "user", "content": "another"}`+"\n"+string(data))
	require.NoError(t, os.Rename(filepath.Join(s.dir, one, "rewritten"), filepath.Join(s.dir, one, "transcript.jsonl"))) // as tools replace it: nobody sees a part
	told = decode[toldMessages](t, again.next("transcript"))
	require.Zero(t, told.From)
	require.Equal(t, "another", told.Rows[0].Text.Text)
}

// TestLongTranscriptIsDamaged reads a damaged one as a whole, to tell where.
func TestLongTranscriptIsDamaged(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.writeLong()
	data, err := os.ReadFile(filepath.Join(s.dir, one, "transcript.jsonl"))
	require.NoError(t, err)
	s.write(one, "transcript.jsonl", string(data)+"{\"role\": \"us\x00\n")
	require.NoError(t, os.RemoveAll(filepath.Join(s.dir, one, "transcript.jsonl.backup")))
	require.Contains(t, s.get(200, page(one)), fmt.Sprintf("<strong>damage</strong> <span>transcript.jsonl: line %d at byte %d: ", 4*longTurns+1, len(data)))
	var list messageList
	s.json(api(one)+"/messages?from=9999", &list)
	require.Equal(t, "answer 2500", list.Rows[0].Text.Text)
}

// TestCallsAtTheEndOfAPart calls no tool unanswered whose result may stand
// behind the part that was read.
func TestCallsAtTheEndOfAPart(t *testing.T) {
	t.Parallel()
	m := func(n int) conversation.Message {
		return conversation.Message{N: n, Turn: 1, Calls: []conversation.Call{{Orphan: true}, {Result: &conversation.Result{N: n + 1}}}}
	}
	for n, orphan := range map[int]bool{0: true, 1: false} {
		v := m(n)
		renumber(&v, 10, 3, 11)
		require.Equal(t, conversation.Message{N: 10 + n, Turn: 4, Calls: []conversation.Call{{Orphan: orphan}, {Result: &conversation.Result{N: 11 + n}}}}, v)
	}
}
