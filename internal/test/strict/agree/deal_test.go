package agree

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// dealer makes conversations up.
type dealer struct {
	*rand.Rand
	ids int
}

func pickOf[T any](d *dealer, of ...T) T { return of[d.IntN(len(of))] }

var dot = func() string {
	var b bytes.Buffer
	_ = png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1)))
	return base64.StdEncoding.EncodeToString(b.Bytes())
}()

func textBlock(s any) object { return object{"type": "text", "text": s} }

func picture(media, data string) object {
	return object{"type": "image", "source": object{"type": "base64", "media_type": media, "data": data}}
}

// talk returns a conversation that every provider takes.
func (d *dealer) talk(turns int) []object {
	var rows []object
	for range turns {
		prompt := object{"role": "user", "content": pickOf[any](d, "hello", "größer 😀", []any{textBlock("see"), picture("image/png", dot)}, []any{textBlock("one"), textBlock("two")})}
		rows = append(rows, prompt)
		if d.IntN(4) == 0 {
			rows = append(rows, object{"role": "user", "content": "<system-reminder>now</system-reminder>"})
		}
		for range d.IntN(3) {
			rows = append(rows, d.step()...)
		}
		rows = append(rows, object{"role": "assistant", "content": pickOf[any](d, "done", []any{textBlock("done")}, []any{d.thinking(), textBlock("done")})})
	}
	return rows
}

// thinking returns thinking that is signed for all providers that have a place for it.
func (d *dealer) thinking() object {
	d.ids++
	return pickOf(d, object{"type": "thinking", "thinking": "hm", "signature": "c2lnbmVk"}, object{"type": "redacted_thinking", "data": "c2Vh"})
}

// step returns calls of tools and their results.
func (d *dealer) step() []object {
	var calls, blocks, results []any
	inBlocks, inUser := d.IntN(3) == 0, d.IntN(3) == 0
	for range 1 + d.IntN(3) {
		d.ids++
		id, name := fmt.Sprintf("call_%d", d.ids), pickOf(d, "read", "run_it")
		args := pickOf[any](d, object{"path": "a"}, `{"path": "a"}`, object{})
		blocks = append(blocks, object{"type": "tool_use", "id": id, "name": name, "input": args})
		calls = append(calls, pickOf(d, object{"id": id, "tool": name, "arguments": args}, object{"id": id, "type": "function", "function": object{"name": name, "arguments": args}}))
		results = append(results, object{"type": "tool_result", "tool_use_id": id, "content": pickOf[any](d, "read", "", []any{textBlock("ok")})})
	}
	said := object{"role": "assistant", "content": pickOf[any](d, "", "looking"), "tool_calls": calls}
	if inBlocks {
		said = object{"role": "assistant", "content": slices.Concat([]any{pickOf(d, textBlock("looking"), d.thinking())}, blocks)}
	}
	rows := []object{said}
	if inUser {
		return append(rows, object{"role": "user", "content": results})
	}
	for i, r := range results {
		rows = append(rows, object{"role": "tool", "tool_call_id": blocks[i].(object)["id"], "name": blocks[i].(object)["name"], "content": r.(object)["content"]})
	}
	return rows
}

// spoil puts one fault, or something odd, into a conversation.
func (d *dealer) spoil(rows []object) []object {
	at := d.IntN(len(rows))
	r := rows[at]
	long := func(n int) string { return strings.Repeat("x", n) }
	switch d.IntN(13) {
	case 0:
		return slices.Delete(rows, at, at+1)
	case 1:
		return slices.Insert(rows, at, object(clone(r)))
	case 2:
		if at > 0 {
			rows[at], rows[at-1] = rows[at-1], rows[at]
		}
	case 3:
		r["content"] = pickOf[any](d, "", " \n", nil, 7, object{}, []any{}, []any{textBlock("")}, []any{textBlock("\t")}, "half "+half)
	case 4:
		r["role"] = pickOf(d, "model", "function", "User")
	case 5: // an id, in the call alone or in its result, too
		from, to := fmt.Sprintf("call_%d", 1+d.IntN(max(1, d.ids))), pickOf(d, "", "a.b:c", long(40), long(64), long(65), "call_1", "größe", "id"+half)
		only := d.IntN(3) == 0
		for _, r := range rows {
			renamed(r, from, to, only)
		}
	case 6:
		eachCall(rows, d, func(c object, name, _ string) {
			c[name] = pickOf(d, "", "a b", "a.b", "1a", long(64), long(65), long(128), long(129), long(201))
		})
	case 7:
		eachCall(rows, d, func(c object, _, args string) {
			c[args] = pickOf[any](d, "x", "[1]", 7, []any{1}, "", nil, " {} ", "{\"a\":\""+half+"\"}", object{"a": half})
		})
	case 8: // a block more
		list, ok := r["content"].([]any)
		if !ok {
			list = []any{textBlock("said")}
		}
		r["content"] = slices.Insert(list, d.IntN(len(list)+1), pickOf[any](d,
			textBlock(""), textBlock(" "), textBlock(nil), textBlock(half), object{"type": "mystery"}, "loose", 7, object{"text": "untyped"},
			object{"type": "tool_use", "id": "call_1", "name": "read", "input": object{}}, object{"type": "tool_use", "id": "new", "name": "read", "input": object{}},
			object{"type": "tool_result", "tool_use_id": "call_1", "content": "r"}, d.oddThinking(), d.oddThinking(), d.oddThinking(), d.thinking(),
			picture("image/jpeg", dot), picture("image/bmp", dot), picture("image/png", "AAAA"), picture("image/png", dot)))
	case 9:
		r["tool_calls"] = pickOf[any](d, 7, object{}, []any{}, []any{7})
	case 10:
		return slices.Insert(rows, at, pickOf(d, object{"role": "user", "content": "and"}, object{"role": "user", "content": "<system-reminder>x</system-reminder>"}, object{"role": "assistant", "content": "so"}, object{"role": "system", "content": "be"}))
	default: // thinking in answers, perhaps the same twice
		odd := d.oddThinking()
		for range 1 + d.IntN(2) {
			if r := rows[d.IntN(len(rows))]; r["role"] == "assistant" {
				list, ok := r["content"].([]any)
				if !ok {
					list = []any{textBlock("said")}
				}
				r["content"] = slices.Insert(list, pickOf(d, 0, len(list)), any(clone(odd)))
			}
		}
	}
	return rows
}

func (d *dealer) oddThinking() object {
	return pickOf(d,
		object{"type": "thinking", "thinking": "hm"}, object{"type": "thinking", "thinking": "hm", "signature": ""}, object{"type": "thinking", "signature": "c2ln"},
		object{"type": "thinking", "thinking": "", "signature": "c2ln"}, object{"type": "redacted_thinking"}, object{"type": "thinking", "thinking": half, "signature": "c2ln"},
		object{"type": "thinking", "thinking": "hm", "content": []any{"gAAAAx", fmt.Sprint("rs_", d.IntN(2))}}, object{"type": "thinking", "thinking": "hm", "content": []any{"gAAAAx", "rs_0"}}, d.thinking(),
		object{"type": "thinking", "thinking": "hm", "content": []any{nil, "rs_9"}})
}

func clone(o object) object {
	b, _ := json.Marshal(o)
	var c object
	_ = json.Unmarshal(b, &c)
	return c
}

// renamed gives a call, and its result unless only the call is meant, another id.
func renamed(v any, from, to string, only bool) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			renamed(e, from, to, only)
		}
	case object:
		for name, e := range v {
			if e == from && (name == "id" || !only) {
				v[name] = to
			}
			renamed(e, from, to, only)
		}
	}
}

// eachCall calls f with one call of the conversation, and the names of its fields.
func eachCall(rows []object, d *dealer, f func(call object, name, arguments string)) {
	for _, i := range d.Perm(len(rows)) {
		for _, field := range []string{"tool_calls", "content"} {
			list, _ := rows[i][field].([]any)
			for _, v := range list {
				c, _ := v.(object)
				fn, ok := c["function"].(object)
				switch {
				case ok:
					f(fn, "name", "arguments")
				case c["tool"] != nil:
					f(c, "tool", "arguments")
				case c["type"] == "tool_use":
					f(c, "name", "input")
				default:
					continue
				}
				return
			}
		}
	}
}

// conversation returns a conversation with up to two faults.
func (d *dealer) conversation(t testing.TB) []sessionstore.Message {
	rows := d.talk(1 + d.IntN(3))
	for range pickOf(d, 0, 1, 1, 1, 2) {
		if len(rows) > 0 {
			rows = d.spoil(rows)
		}
	}
	msgs := make([]sessionstore.Message, 0, len(rows))
	for _, r := range rows {
		line, err := json.Marshal(r)
		require.NoError(t, err)
		line = []byte(strings.ReplaceAll(string(line), "\\u003chalf\\u003e", `\ud83d`))
		m, err := sessionstore.ParseMessage(line)
		require.NoError(t, err)
		msgs = append(msgs, m)
	}
	return msgs
}
