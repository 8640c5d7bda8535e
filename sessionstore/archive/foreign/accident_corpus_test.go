package foreign_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

// A family is the files of histories that belong together.
type family struct {
	name  string
	tool  foreign.Tool
	files map[string]string // by path below the tool's directory
}

// Made-up histories, each with something that was seen to go wrong.

const (
	sid    = "11111111-1111-4111-8111-111111111111"
	site   = "projects/-home-ana-site/"
	thread = "01a06200-0000-7000-8000-000000000001"
)

func uuidOf(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012x", n) }

func clock(s int) string {
	return time.Date(2026, 4, 1, 10, 0, s, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
}

// rec returns a record of Claude Code behind another one, 0 for none.
func rec(n, parent int, kind string, content any, s int, more ...any) row {
	r := row{
		"parentUuid": nil, "isSidechain": false, "userType": "external", "cwd": "/home/ana/site", "sessionId": sid,
		"version": "2.1.92", "type": kind, "uuid": uuidOf(n), "timestamp": clock(s),
	}
	if parent > 0 {
		r["parentUuid"] = uuidOf(parent)
	}
	switch kind {
	case "user":
		r["message"] = row{"role": "user", "content": content}
	case "assistant":
		r["message"] = row{
			"model": "claude-x", "id": fmt.Sprint("msg_", n), "type": "message", "role": "assistant", "content": content,
			"usage": row{"input_tokens": 1, "output_tokens": 2},
		}
	}
	for i := 0; i+1 < len(more); i += 2 {
		r[more[i].(string)] = more[i+1]
	}
	return r
}

func says(s string) any { return []any{row{"type": "text", "text": s}} }

func calls(n int) any {
	return []any{row{"type": "tool_use", "id": fmt.Sprint("toolu_", n), "name": "Bash", "input": row{"command": "ls"}}}
}

func results(n int) any {
	return []any{row{"type": "tool_result", "tool_use_id": fmt.Sprint("toolu_", n), "content": "ok"}}
}

func agentOf(id string, all ...row) []row {
	for _, r := range all {
		r["isSidechain"], r["agentId"] = true, id
	}
	return all
}

func text1(rows ...row) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString((&words{}).printed(r) + "\n")
	}
	return b.String()
}

const continued = "This session is being continued from a previous conversation. Summary."

// compacted returns a compaction and what follows it, from record n on.
func compacted(n, logical, s int) []row {
	return []row{
		rec(n, 0, "system", nil, s, "subtype", "compact_boundary", "logicalParentUuid", uuidOf(logical), "compactMetadata", row{"trigger": "auto", "preTokens": 170000}),
		rec(n+1, n, "user", continued, s, "isCompactSummary", true, "isVisibleInTranscriptOnly", true),
	}
}

// turns returns n turns of Claude Code from record at on.
func turns(at, parent, n, s int) (all []row) {
	for i := range n {
		all = append(all, rec(at, parent, "user", fmt.Sprint("Q", at), s+2*i), rec(at+1, at, "assistant", says(fmt.Sprint("A", at)), s+2*i+1))
		parent, at = at+1, at+2
	}
	return all
}

func claudeFamilies() (all []family) {
	add := func(name string, files map[string]string) {
		all = append(all, family{name: name, tool: foreign.Claude, files: files})
	}
	first := []row{
		rec(1, 0, "user", "first question", 0), rec(2, 1, "assistant", calls(1), 1), rec(3, 2, "user", results(1), 2),
		rec(4, 3, "assistant", says("first answer"), 3),
	}
	compaction := func(logical int) []row {
		return slices.Concat(first, compacted(20, logical, 60), []row{
			rec(22, 21, "assistant", says("going on"), 61), rec(23, 22, "user", "second question", 70), rec(24, 23, "assistant", says("second answer"), 71),
		})
	}
	add("a compaction", map[string]string{site + sid + ".jsonl": text1(compaction(4)...)})
	add("a compaction whose logical parent is not there", map[string]string{site + sid + ".jsonl": text1(compaction(999)...)})
	add("work between two such compactions", map[string]string{site + sid + ".jsonl": text1(slices.Concat(first, compacted(20, 999, 60), []row{
		rec(22, 21, "assistant", calls(7), 61), rec(25, 22, "user", results(7), 62), rec(26, 25, "assistant", says("an answer between"), 63),
	}, compacted(40, 998, 80), []row{rec(42, 41, "user", "third question", 90), rec(43, 42, "assistant", says("third answer"), 91)})...)})
	main := func() []row {
		return []row{
			rec(1, 0, "user", "do it", 0),
			rec(2, 1, "assistant", []any{row{"type": "tool_use", "id": "toolu_1", "name": "Task", "input": row{"prompt": "count the files"}}}, 1),
			rec(3, 2, "user", results(1), 30), rec(4, 3, "assistant", says("done"), 31),
		}
	}
	agent := func() []row {
		return agentOf("a1b2c3", rec(101, 0, "user", "count the files", 2), rec(102, 997, "assistant", calls(11), 5),
			rec(103, 102, "user", results(11), 6), rec(104, 103, "assistant", says("there are three"), 7))
	}
	below := site + sid + "/subagents/agent-"
	add("an agent whose parent is not there", map[string]string{site + sid + ".jsonl": text1(main()...), below + "a1b2c3.jsonl": text1(agent()...)})
	again := agentOf("a1b2c3", rec(105, 104, "user", "and the folders", 60), rec(106, 996, "assistant", calls(12), 120),
		rec(107, 106, "user", results(12), 121), rec(108, 107, "assistant", says("two folders"), 122))
	add("an agent that was asked again", map[string]string{site + sid + ".jsonl": text1(main()...), below + "a1b2c3.jsonl": text1(append(agent(), again...)...)})
	aside := agentOf("aside_question-0a1b", append(main(),
		rec(201, 4, "user", "<system-reminder>This is a side question from the user.\n\nWhat is the port?</system-reminder>", 40),
		rec(202, 201, "assistant", says("The port is 8080."), 41))...)
	add("a side question", map[string]string{site + sid + ".jsonl": text1(main()...), below + "aside_question-0a1b.jsonl": text1(aside...)})
	add("a mistyped command", map[string]string{site + sid + ".jsonl": text1(rec(1, 0, "user", "<local-command-caveat>Caveat: …</local-command-caveat>", 0, "isMeta", true),
		rec(2, 1, "user", "Unknown skill: deplyo", 0), rec(3, 2, "user", "hello", 5), rec(4, 3, "assistant", says("hi"), 6))})
	note := func(n, parent, s int) row {
		return rec(n, parent, "attachment", nil, s, "attachment", row{"type": "skill_listing", "content": "x"})
	}
	add("prompts that were taken back", map[string]string{site + sid + ".jsonl": text1(rec(1, 0, "user", "hello", 0), rec(2, 1, "assistant", says("hi"), 1),
		rec(3, 2, "user", "please biuld", 10), note(4, 3, 10), rec(5, 2, "user", "please build", 15), note(6, 5, 15), rec(7, 6, "assistant", says("built"), 16),
		rec(8, 7, "user", "now tset", 20), note(9, 8, 20), rec(10, 7, "user", "now test", 25), rec(11, 10, "assistant", says("tested"), 26))})
	damaged := agent()
	damaged[1]["parentUuid"] = uuidOf(101)
	add("a damaged line of an agent", map[string]string{
		site + sid + ".jsonl":  text1(main()...),
		below + "a1b2c3.jsonl": text1(damaged[:2]...) + `{"type":"assistant","uuid":` + "\n" + text1(damaged[2:]...),
	})
	add("what an editor and a shell add", map[string]string{site + sid + ".jsonl": text1(rec(1, 0, "user", []any{
		row{"type": "text", "text": "<ide_opened_file>The user opened the file /home/ana/site/a.go in the IDE.</ide_opened_file>"}, row{"type": "text", "text": "why is it slow?"},
	}, 0), rec(2, 1, "assistant", says("because"), 1), rec(3, 2, "user", "<bash-input>ls -l</bash-input>", 2),
		rec(4, 3, "user", "<bash-stdout>a b</bash-stdout><bash-stderr></bash-stderr>", 3), rec(5, 4, "user", "what is a?", 5), rec(6, 5, "assistant", says("a file"), 6))})
	add("half a surrogate pair", map[string]string{site + sid + ".jsonl": strings.ReplaceAll(text1(rec(1, 0, "user", "list the images 🚀", 0),
		rec(2, 1, "assistant", calls(1), 1), rec(3, 2, "user", results(1), 2), rec(4, 3, "assistant", says("XX shown"), 3)), "XX", `\ud99c`)})
	add("a session in two folders", map[string]string{
		"projects/-home-ana-wt-feature/" + sid + ".jsonl": strings.ReplaceAll(text1(turns(1, 0, 2, 0)...), "/home/ana/site", "/home/ana/wt/feature"),
		"projects/-home-ana-repo/" + sid + ".jsonl":       strings.ReplaceAll(text1(turns(1, 0, 5, 0)...), "/home/ana/site", "/home/ana/repo"),
	})
	add("five turns", map[string]string{site + sid + ".jsonl": text1(turns(1, 0, 5, 0)...)})
	whole := text1(append(turns(1, 0, 3, 0), rec(50, 6, "user", "Q3", 50), rec(51, 50, "assistant", calls(1), 51))...)
	more := text1(append([]row{rec(52, 51, "user", results(1), 52)}, turns(60, 52, 2, 60)...)...)
	other := strings.Replace(sid, "1111", "2222", 1)
	add("a copy that went on in the background", map[string]string{site + sid + ".jsonl": whole, site + other + ".jsonl": strings.ReplaceAll(whole+more, sid, other)})
	add("such a copy with its own ids", map[string]string{
		site + sid + ".jsonl":   whole,
		site + other + ".jsonl": strings.ReplaceAll(strings.ReplaceAll(whole+more, sid, other), "00000000-0000-4000-8000-", "00000000-0000-4000-9000-"),
	})
	folders := map[string]string{}
	for i, dir := range []string{`C:\\Users\\ana\\app`, `c:\\Users\\ana\\app`, `C:/Users/ana/app`, `/mnt/c/Users/ana/app`} {
		id := fmt.Sprintf("cccc0000-0000-4000-8000-00000000014%d", i)
		folders[site+id+".jsonl"] = strings.ReplaceAll(strings.ReplaceAll(text1(turns(1000*(i+1), 0, 1, 0)...), sid, id), "/home/ana/site", dir)
	}
	add("names of one directory", folders)
	return all
}

// rollout makes a file of Codex.
type rollout struct {
	id, segment string
	pages       bool // with ordinals, as newer versions write
	rows        []row
	first, at   int // the first ordinal, and the second of the next line
}

func (c *rollout) add(kind string, payload row) {
	r := row{"timestamp": clock(c.at), "type": kind, "payload": payload}
	if c.pages {
		r["ordinal"] = c.first + len(c.rows)
	}
	c.at++
	c.rows = append(c.rows, r)
}

func newRollout(id string, pages bool, s int) *rollout {
	c := &rollout{id: id, pages: pages, at: s}
	c.add("session_meta", row{"id": id, "session_id": id, "timestamp": clock(s), "cwd": "/home/ana/shop", "originator": "codex_cli_rs", "cli_version": "0.153.4", "source": "cli"})
	if pages {
		c.rows[0]["payload"].(row)["history_mode"] = "paginated"
	}
	return c
}

// after returns a file that goes on behind so many lines of this one: a segment of
// its thread, or a fork with an id of its own.
func (c *rollout) after(shared int, id, segment string) *rollout {
	n := newRollout(id, true, c.at+60)
	n.first, n.segment = c.first+shared, segment
	base := c.id
	if c.segment != "" {
		base = c.segment
	}
	meta := n.rows[0]["payload"].(row)
	meta["history_base"] = row{"thread_id": base, "end_ordinal_exclusive": n.first, "end_byte_offset": len(text1(c.rows[:shared]...))}
	if id != c.id {
		meta["forked_from_id"], meta["forked_from_ordinal_exclusive"] = c.id, n.first
	}
	n.rows[0]["ordinal"] = n.first
	return n
}

func (c *rollout) say(prompt, answer string) *rollout {
	item := func(role, kind, said string) row {
		return row{"type": "message", "role": role, "content": []any{row{"type": kind, "text": said}}}
	}
	done := func(kind, part, said string) row {
		return row{"type": "item_completed", "item": row{"type": kind, "id": "i", "content": []any{row{"type": part, "text": said}}}}
	}
	c.add("response_item", item("user", "input_text", prompt))
	if c.pages {
		c.add("event_msg", done("UserMessage", "text", prompt))
	} else {
		c.add("event_msg", row{"type": "user_message", "message": prompt, "kind": "plain"})
	}
	c.add("response_item", item("assistant", "output_text", answer))
	if c.pages {
		c.add("event_msg", done("AgentMessage", "Text", answer))
	} else {
		c.add("event_msg", row{"type": "agent_message", "message": answer})
	}
	return c
}

func (c *rollout) file() (name, content string) {
	id := c.id
	if c.segment != "" {
		id += "_" + c.segment
	}
	return "sessions/2026/04/01/rollout-" + strings.ReplaceAll(clock(c.at)[:19], ":", "-") + "-" + id + ".jsonl", text1(c.rows...)
}

func codexFamilies() (all []family) {
	add := func(name string, files ...*rollout) {
		f := family{name: name, tool: foreign.Codex, files: map[string]string{}}
		for _, c := range files {
			path, content := c.file()
			f.files[path] = content
		}
		all = append(all, f)
	}
	id := func(last string) string { return thread[:len(thread)-1] + last }
	threeOf := func(pages bool) *rollout {
		return newRollout(thread, pages, 0).say("one", "answer one").say("two", "answer two").say("three", "answer three")
	}
	add("a thread of older versions", threeOf(false))
	add("a thread of newer versions", threeOf(true))
	parent := threeOf(true)
	add("a fork with its own records only", parent, parent.after(5, id("2"), "").say("fork question", "fork answer"))
	begun := newRollout(thread, true, 0).say("alpha", "alpha done").say("beta", "beta done")
	second := begun.after(len(begun.rows), thread, id("b")).say("gamma", "gamma done")
	add("a thread that was resumed twice", begun, second, second.after(len(second.rows), thread, id("c")).say("delta", "delta done"))
	add("a thread that was reverted", begun, begun.after(5, thread, id("b")).say("beta again", "beta again done"))
	odd := newRollout(thread, false, 0).say("run the tests", "I run them")
	odd.add("response_item", row{"type": "function_call", "name": "exec_command\x00\x00\x01", "arguments": "\x00{\"cmd\":\x01", "call_id": "call_1"})
	odd.add("response_item", row{"type": "function_call_output", "call_id": "call_1", "output": "unsupported"})
	add("a call full of NUL", odd.say("again", "ok"))
	return all
}

// testFamilies returns those of testdata. Files below one directory of sessions of
// Claude Code, and those of Codex that name each other, are one family.
func testFamilies() (all []family) {
	for _, tool := range []foreign.Tool{foreign.Claude, foreign.Codex} {
		for _, top := range []string{"testdata", "testdata/facts", "testdata/live"} {
			dir := filepath.Join(filepath.FromSlash(top), string(tool))
			files := map[string]string{}
			must(fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
				if err != nil || e.IsDir() || path.Base(name) == "session_index.jsonl" {
					return err
				}
				raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
				files[name] = string(raw)
				return err
			}))
			for len(files) > 0 {
				f := family{name: top, tool: tool, files: map[string]string{}}
				grow(&f, files, slices.Sorted(maps.Keys(files))[0])
				f.name += " " + path.Base(slices.Sorted(maps.Keys(f.files))[0])
				all = append(all, f)
			}
		}
	}
	return all
}

// grow moves a file to a family, with those that name its session or that it names.
func grow(f *family, files map[string]string, name string) {
	content, found := files[name]
	if !found {
		return
	}
	f.files[name] = content
	delete(files, name)
	id := threadOf(f.tool, name)
	for _, other := range slices.Sorted(maps.Keys(files)) {
		if strings.Contains(files[other], id) || strings.Contains(content, threadOf(f.tool, other)) || threadOf(f.tool, other) == id {
			grow(f, files, other)
		}
	}
}

// marked are the families with their words, which no test changes.
var marked = sync.OnceValue(func() (m struct {
	all   []family
	words *words
},
) {
	m.words = newWords(10000)
	for i, f := range slices.Concat(claudeFamilies(), codexFamilies(), testFamilies()) {
		m.all = append(m.all, f.marked(m.words, fmt.Sprint(i)))
	}
	return m
})

// marked returns the family with words. Places in other files stay where they were.
func (f family) marked(w *words, group string) family {
	was, now := map[string][]string{}, map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(f.files)) { // so that a run can be repeated
		id, content := fileID(name), f.files[name]
		was[id], now[id] = lines(content), w.mark(f.tool, group, content)
	}
	out := f
	out.files = map[string]string{}
	settled := map[string]bool{}
	var settle func(id string)
	settle = func(id string) {
		if settled[id] {
			return
		}
		settled[id] = true
		first := parseRow(strings.Join(now[id][:min(1, len(now[id]))], ""))
		base := object(object(first["payload"])["history_base"])
		from := text(base["thread_id"])
		if base == nil || now[from] == nil {
			return
		}
		settle(from)
		offset, line := 0, 0
		for end := fmt.Sprint(base["end_byte_offset"]); fmt.Sprint(offset) != end && line < len(was[from]); line++ {
			offset += len(was[from][line])
		}
		if fmt.Sprint(offset) != fmt.Sprint(base["end_byte_offset"]) {
			return // it names no place
		}
		base["end_byte_offset"] = len(strings.Join(now[from][:line], ""))
		now[id][0] = w.printed(first) + "\n"
	}
	for name := range f.files {
		if f.tool == foreign.Codex {
			settle(fileID(name))
		}
	}
	for name := range f.files {
		out.files[name] = strings.Join(now[fileID(name)], "")
	}
	return out
}

// fileID returns what history_base calls a file of Codex: the last id of its name.
func fileID(name string) string {
	base := strings.TrimSuffix(path.Base(name), ".jsonl")
	if _, segment, found := strings.Cut(base, "_"); found && strings.HasPrefix(base, "rollout-") {
		return segment
	}
	if strings.HasPrefix(base, "rollout-") {
		return threadOf(foreign.Codex, name)
	}
	return name
}
