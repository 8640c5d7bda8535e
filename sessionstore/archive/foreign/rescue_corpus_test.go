package foreign

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// object is a JSON object.
type object = map[string]any

// pictureOf returns a PNG of some size, in base64.
func pictureOf(width, height int) string {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// spokenBy makes the lines of one tool.
type spokenBy interface {
	tool() Tool
	prompt(text string, pictures ...string)
	answer(text string)
	call(ids ...string)
	result(id, text string, pictures ...string)
	file() []object
	path(home string) string
	id() string
}

// maker has what the makers share.
type madeFile struct {
	session string
	rows    []object
	at      time.Time
}

func (m *madeFile) file() []object { return m.rows }
func (m *madeFile) id() string     { return m.session }

func (m *madeFile) now() string {
	m.at = m.at.Add(time.Second)
	return m.at.Format("2006-01-02T15:04:05.000Z")
}

func newMade(n int) madeFile {
	return madeFile{session: fmt.Sprintf("01a2137d-0000-7000-8000-%012x", n), at: time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)}
}

// claudeFile makes a file of Claude Code.
type claudeFile struct {
	madeFile
	dir, last string
}

func (c *claudeFile) tool() Tool { return Claude }
func (c *claudeFile) path(home string) string {
	return filepath.Join(home, "projects", "-home-ana-made", c.session+".jsonl")
}

func (c *claudeFile) add(role string, message object) {
	uuid := fmt.Sprintf("%s-%04x-4000-8000-%s", c.session[:8], len(c.rows)+1, c.session[24:])
	row := object{
		"parentUuid": nil, "isSidechain": false, "userType": "external", "cwd": c.dir, "sessionId": c.session, "version": "2.1.332",
		"gitBranch": "main", "type": role, "message": message, "uuid": uuid, "timestamp": c.now(),
	}
	if c.last != "" {
		row["parentUuid"] = c.last
	}
	c.last, c.rows = uuid, append(c.rows, row)
}

func claudePictures(pictures []string) (blocks []any) {
	for _, p := range pictures {
		blocks = append(blocks, object{"type": "image", "source": object{"type": "base64", "media_type": "image/png", "data": p}})
	}
	return blocks
}

func (c *claudeFile) prompt(text string, pictures ...string) {
	if len(pictures) == 0 {
		c.add("user", object{"role": "user", "content": text})
		return
	}
	c.add("user", object{"role": "user", "content": append([]any{object{"type": "text", "text": text}}, claudePictures(pictures)...)})
}

func (c *claudeFile) respond(id string, block object) {
	c.add("assistant", object{"id": id, "type": "message", "role": "assistant", "model": "claude-x", "content": []any{block}, "stop_reason": nil, "usage": object{"input_tokens": 1, "output_tokens": 1}})
}

func (c *claudeFile) answer(text string) {
	c.respond(fmt.Sprint("msg_", len(c.rows)), object{"type": "text", "text": text})
}

func (c *claudeFile) call(ids ...string) {
	response := fmt.Sprint("msg_", len(c.rows))
	for _, id := range ids {
		c.respond(response, object{"type": "tool_use", "id": id, "name": "Read", "input": object{"file_path": "a"}})
	}
}

func (c *claudeFile) result(id, text string, pictures ...string) {
	content := append([]any{object{"type": "text", "text": text}}, claudePictures(pictures)...)
	c.add("user", object{"role": "user", "content": []any{object{"type": "tool_result", "tool_use_id": id, "content": content}}})
}

// codexFile makes a file of Codex.
type codexFile struct {
	madeFile
	dir     string
	ordinal bool
}

func (c *codexFile) tool() Tool { return Codex }
func (c *codexFile) path(home string) string {
	return filepath.Join(home, "sessions", "2026", "05", "06", "rollout-2026-05-06T07-08-10-"+c.session+".jsonl")
}

func (c *codexFile) add(kind string, payload object) {
	if len(c.rows) == 0 && kind != "session_meta" {
		head := object{"id": c.session, "timestamp": "2026-05-06T07:08:10.000Z", "cwd": c.dir, "originator": "codex_cli_rs", "cli_version": "0.144.3", "source": "cli"}
		if c.ordinal {
			head["history_mode"] = "paginated"
		}
		c.add("session_meta", head)
	}
	row := object{"timestamp": c.now(), "type": kind, "payload": payload}
	if c.ordinal {
		row["ordinal"] = len(c.rows)
	}
	c.rows = append(c.rows, row)
}

func codexContent(text string, pictures []string) []any {
	content := []any{object{"type": "input_text", "text": text}}
	for _, p := range pictures {
		content = append(content, object{"type": "input_image", "image_url": "data:image/png;base64," + p})
	}
	return content
}

func (c *codexFile) prompt(text string, pictures ...string) {
	c.add("response_item", object{"type": "message", "role": "user", "content": codexContent(text, pictures)})
	c.add("event_msg", object{"type": "user_message", "message": text, "images": []any{}})
}

func (c *codexFile) answer(text string) {
	c.add("response_item", object{"type": "message", "role": "assistant", "content": []any{object{"type": "output_text", "text": text}}})
	c.add("event_msg", object{"type": "agent_message", "message": text})
}

func (c *codexFile) call(ids ...string) {
	for _, id := range ids {
		c.add("response_item", object{"type": "function_call", "name": "shell", "arguments": `{"command":["ls"]}`, "call_id": id})
	}
}

func (c *codexFile) result(id, text string, pictures ...string) {
	output := any(text)
	if len(pictures) > 0 {
		output = codexContent(text, pictures)
	}
	c.add("response_item", object{"type": "function_call_output", "call_id": id, "output": output})
}

func newMadeFile(tool Tool, n int) spokenBy {
	if tool == Claude {
		return &claudeFile{madeFile: newMade(n), dir: "/home/ana/made"}
	}
	return &codexFile{madeFile: newMade(n), dir: "/home/ana/made"}
}

// small is a picture that each provider takes.
var small = pictureOf(4, 4)

// talk makes a sound conversation: three prompts, two calls at once, pictures.
func talk(f spokenBy) {
	f.prompt("first made-up question")
	f.call("call_a", "call_b")
	f.result("call_a", "result a")
	f.result("call_b", "result b", small)
	f.answer("first made-up answer")
	f.prompt("second made-up question", small)
	f.answer("second made-up answer")
	f.prompt("third made-up question")
	f.answer("third made-up answer")
}

func linesOf(t testing.TB, f spokenBy) (all [][]byte) {
	t.Helper()
	for _, r := range f.file() {
		b, err := json.Marshal(r)
		require.NoError(t, err)
		all = append(all, b)
	}
	return all
}

func joinLines(all [][]byte) []byte { return append(bytes.Join(all, []byte("\n")), '\n') }

// wreck is a way in which a session breaks.
type wreck struct {
	name  string
	only  Tool // the tool whose provider refuses it; "": both
	kinds []string
	lost  []string                                 // texts that are gone
	talk  func(f spokenBy)                         // nil: talk
	cut   func(tool Tool, all [][]byte) (b []byte) // nil: the lines as they are; nil result: not of this tool
}

// at returns the first line with a text.
func at(all [][]byte, text string) int {
	return slices.IndexFunc(all, func(b []byte) bool { return bytes.Contains(b, []byte(text)) })
}

// wrecks are the ways in which a session breaks.
var wrecks = []wreck{
	{name: "last line torn", kinds: []string{"torn_line"}, lost: []string{"third made-up answer"}, cut: func(tool Tool, all [][]byte) []byte {
		n := at(all, "third made-up answer")
		return append(joinLines(all[:n]), all[n][:len(all[n])/2]...)
	}},
	{name: "line torn in the middle", kinds: []string{"torn_line"}, lost: []string{"first made-up answer"}, cut: func(tool Tool, all [][]byte) []byte {
		n := at(all, "first made-up answer")
		all[n] = all[n][:len(all[n])/2]
		if tool == Codex {
			all = slices.Delete(all, n+1, n+2) // the event
		}
		return joinLines(all)
	}},
	{name: "NULs at the end", kinds: []string{"nuls"}, cut: func(_ Tool, all [][]byte) []byte { return append(joinLines(all), make([]byte, 512)...) }},
	{name: "NULs before a line", kinds: []string{"nuls"}, cut: func(_ Tool, all [][]byte) []byte {
		n := at(all, "second made-up question")
		all[n] = append(make([]byte, 100), all[n]...)
		return joinLines(all)
	}},
	{name: "half an object before a whole one", kinds: []string{"half_object"}, cut: func(_ Tool, all [][]byte) []byte {
		n := at(all, "second made-up question")
		all[n] = append(bytes.Clone(all[n][:2*len(all[n])/3]), all[n]...)
		return joinLines(all)
	}},
	{name: "two objects in a line", kinds: []string{"joined_lines"}, cut: func(_ Tool, all [][]byte) []byte {
		n := at(all, "second made-up question")
		all[n] = append(bytes.Clone(all[n]), all[n+1]...)
		return joinLines(slices.Delete(all, n+1, n+2))
	}},
	{name: "three objects and a half in a line", kinds: []string{"joined_lines", "torn_line"}, cut: func(_ Tool, all [][]byte) []byte {
		n := at(all, "second made-up question")
		all[n] = slices.Concat(all[n], all[n+1], all[n+2], all[n+1][:len(all[n+1])/2])
		return joinLines(slices.Delete(all, n+1, n+3))
	}},
	{name: "lines in another order", kinds: []string{"wrong_order"}, cut: func(tool Tool, all [][]byte) []byte {
		n := at(all, "second made-up question")
		if tool == Codex {
			n = 0
		}
		all[n], all[n+1] = all[n+1], all[n]
		return joinLines(all)
	}},
	{name: "a line is missing", kinds: []string{"missing_parent"}, lost: []string{"second made-up answer"}, cut: func(tool Tool, all [][]byte) []byte {
		n := at(all, "second made-up answer")
		if tool == Codex {
			return nil
		}
		return joinLines(slices.Delete(all, n, n+1))
	}},
	{name: "the first line is missing", kinds: []string{"missing_head"}, cut: func(tool Tool, all [][]byte) []byte {
		if tool == Claude {
			return nil
		}
		return joinLines(all[1:])
	}},
	{name: "the result stands before its call", only: Claude, kinds: []string{"refused"}, talk: func(f spokenBy) {
		f.prompt("first made-up question")
		f.result("call_a", "result a")
		f.call("call_a")
		f.answer("first made-up answer")
	}},
	{name: "call without a result", kinds: []string{"refused"}, talk: func(f spokenBy) {
		f.prompt("first made-up question")
		f.call("call_a", "call_b")
		f.result("call_a", "result a")
		f.answer("first made-up answer")
	}},
	{name: "call at the end", kinds: []string{"refused"}, talk: func(f spokenBy) {
		f.prompt("first made-up question")
		f.answer("first made-up answer")
		f.prompt("second made-up question")
		f.call("call_a")
	}},
	{name: "result without a call", kinds: []string{"refused"}, talk: func(f spokenBy) {
		f.prompt("first made-up question")
		f.result("call_z", "result z")
		f.answer("first made-up answer")
	}},
	{name: "two results", only: Claude, kinds: []string{"refused"}, talk: func(f spokenBy) {
		f.prompt("first made-up question")
		f.call("call_a")
		f.result("call_a", "result a")
		f.result("call_a", "result again")
		f.answer("first made-up answer")
	}},
	{name: "blank text", kinds: []string{"refused"}, talk: func(f spokenBy) {
		f.prompt("first made-up question")
		if f.tool() == Claude {
			f.answer("")
		} else {
			f.call("call_a")
		}
		f.prompt("second made-up question")
		f.answer("second made-up answer")
	}},
	{name: "wide picture", only: Claude, kinds: []string{"refused"}, talk: pictured(pictureOf(9000, 10))},
	{name: "many pictures", only: Claude, kinds: []string{"refused"}, talk: func(f spokenBy) {
		wide := pictureOf(2500, 10)
		for i := range 25 {
			f.prompt(fmt.Sprintf("question %d.", i), wide)
			f.answer(fmt.Sprintf("answer %d.", i))
		}
	}},
	{name: "broken picture", kinds: []string{"refused"}, talk: pictured(base64.StdEncoding.EncodeToString([]byte("no picture at all")))},
	{name: "cut base64", kinds: []string{"refused"}, talk: pictured("iVBORw0KGgo%%")},
	{name: "picture in a result", kinds: []string{"refused"}, talk: func(f spokenBy) {
		f.prompt("first made-up question")
		f.call("call_a")
		f.result("call_a", "result a", base64.StdEncoding.EncodeToString([]byte("no picture")))
		f.answer("first made-up answer")
	}},
	{name: "torn, joined and refused at once", kinds: []string{"half_object", "refused"}, talk: func(f spokenBy) {
		f.prompt("first made-up question", base64.StdEncoding.EncodeToString([]byte("no picture")))
		f.answer("first made-up answer")
		f.prompt("second made-up question")
		f.call("call_a")
	}, cut: func(_ Tool, all [][]byte) []byte {
		n := at(all, "second made-up question")
		all[n] = append(bytes.Clone(all[n][:len(all[n])/2]), all[n]...)
		return joinLines(all)
	}},
}

func pictured(data string) func(f spokenBy) {
	return func(f spokenBy) {
		f.prompt("first made-up question", small, data)
		f.answer("first made-up answer")
		f.prompt("second made-up question")
		f.answer("second made-up answer")
	}
}

// broken writes a broken session to a home, and returns its path, "" where the tool has no such
// fault.
func (w wreck) broken(t testing.TB, home string, f spokenBy) string {
	t.Helper()
	if w.only != "" && w.only != f.tool() {
		return ""
	}
	if w.talk == nil {
		w.talk = talk
	}
	w.talk(f)
	data := joinLines(linesOf(t, f))
	if w.cut != nil {
		if data = w.cut(f.tool(), linesOf(t, f)); data == nil {
			return ""
		}
	}
	path := f.path(home)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

// texts returns the prompts and answers of the lines that were made.
func textsOf(f spokenBy) (all []string) {
	for _, r := range f.file() {
		b, _ := json.Marshal(r)
		for _, word := range []string{"question", "answer"} {
			if i := bytes.Index(b, []byte(word)); i >= 0 && !strings.Contains(string(b), `"event_msg"`) {
				begin := bytes.LastIndexByte(b[:i], '"') + 1
				all = append(all, string(b[begin:i+bytes.IndexByte(b[i:], '"')]))
			}
		}
	}
	return all
}
