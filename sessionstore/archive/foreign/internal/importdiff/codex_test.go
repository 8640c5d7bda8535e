package importdiff

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// codex is a home of Codex.
type codex struct{ world }

func (c *codex) save(dir string) error {
	if err := c.write(dir, "sessions"); err != nil {
		return err
	}
	var titles []byte
	for _, p := range c.paths(func(_ string, f *file) bool { return f.at%4 == 1 }) {
		titles = append(titles, line(row{"id": c.files[p].session, "thread_name": "T " + c.files[p].session, "updated_at": c.time()})...)
	}
	if len(titles) == 0 {
		return nil
	}
	return write(path.Join(dir, "session_index.jsonl"), titles)
}

func (c *codex) adopt(name string, b []byte) {
	id := strings.TrimSuffix(name, ".jsonl")
	f := &file{adopted: b, session: id[max(0, len(id)-36):], cwd: "/home/a/site"}
	for _, p := range c.paths(func(p string, _ *file) bool { return path.Base(p) == name }) {
		delete(c.files, p)
	}
	c.files["sessions/2025/04/01/"+name] = f
	if c.often(90) {
		c.turn(f)
	} else {
		c.event(f, row{"type": "task_started"})
	}
}

func (c *codex) row(f *file, kind string, payload row) {
	r := row{"timestamp": c.tick(), "type": kind, "payload": payload}
	if f.numbered {
		r["ordinal"] = f.ordinal
		f.ordinal++
	}
	if c.often(1) {
		r["newMember"] = 1
	}
	f.rows = append(f.rows, r)
}

func (c *codex) item(f *file, payload row)  { c.row(f, "response_item", payload) }
func (c *codex) event(f *file, payload row) { c.row(f, "event_msg", payload) }

func said(role, kind, s string) row {
	return row{"type": "message", "role": role, "content": []any{row{"type": kind, "text": s}}}
}

// ask adds a prompt, with the event that names it.
func (c *codex) ask(f *file) {
	s := "ask " + c.word()
	if c.often(15) {
		s = c.oddText()
	}
	if c.often(10) {
		c.item(f, said(pick(&c.world, "user", "developer"), "input_text", c.oddText()))
	}
	m := said("user", "input_text", s)
	if c.often(10) {
		url := pick(&c.world, "data:image/png;base64,iVBORw0", "https://a.example/b.png", "file:///x")
		m["content"] = append(m["content"].([]any), row{"type": "input_image", "image_url": url})
	}
	before := c.often(10)
	name := func() {
		switch {
		case c.often(4):
		case f.numbered:
			c.event(f, row{"type": "item_completed", "item": row{"type": "UserMessage", "id": fmt.Sprint("u", c.number()), "content": []any{text(s)}}})
		default:
			c.event(f, row{"type": "user_message", "message": s, "kind": "plain"})
		}
	}
	if before {
		name()
	}
	c.item(f, m)
	if !before {
		name()
	}
}

// turn adds a prompt and what the tool did on it.
func (c *codex) turn(f *file) {
	c.ask(f)
	if c.often(10) {
		c.event(f, row{"type": "turn_aborted", "reason": "interrupted"})
		return
	}
	for range pick(&c.world, 0, 1, 2) {
		c.work(f)
	}
	s := "say " + c.word()
	c.item(f, said("assistant", "output_text", s))
	if !f.numbered {
		c.event(f, row{"type": "agent_message", "message": s})
	}
	n := c.number()
	c.event(f, row{"type": "token_count", "info": row{
		"total_token_usage": row{"input_tokens": n * 10, "output_tokens": n, "cached_input_tokens": n, "total_tokens": n * pick(&c.world, 11, 11, 0)},
		"last_token_usage":  row{"input_tokens": 10, "output_tokens": 1},
	}})
	if c.often(10) && !f.numbered {
		c.event(f, row{"type": "thread_rolled_back", "num_turns": pick(&c.world, 1, 1, 2, 99)})
	}
	if c.often(5) {
		c.event(f, row{"type": "never_seen"})
		c.row(f, pick(&c.world, "never_seen", "world_state", "rollout_reference", "inter_agent_communication"), row{"author": "b", "content": "mail " + c.word()})
	}
}

// work adds calls and their results.
func (c *codex) work(f *file) {
	if c.often(40) {
		c.item(f, row{"type": "reasoning", "summary": []any{row{"type": "summary_text", "text": "hm"}}, "encrypted_content": "x"})
	}
	ids := []string{"c" + c.word()}
	if c.often(50) {
		ids = append(ids, pick(&c.world, "c"+c.word(), "c same"))
	}
	kinds := map[string]string{}
	for _, id := range ids {
		call := row{"call_id": id}
		switch kind := pick(&c.world, "function_call", "function_call", "function_call", "custom_tool_call", "local_shell_call", "tool_search_call"); kind {
		case "function_call":
			call["name"], call["arguments"] = "shell", pick[any](&c.world, `{"a":1}`, `{"a":1}`, "no json", "[1]", "", row{"b": 2}, []any{3})
			kinds[id] = "function_call_output"
		case "custom_tool_call":
			call["name"], call["input"], kinds[id] = "patch", "*** Begin", "custom_tool_call_output"
		case "local_shell_call":
			call["action"], kinds[id] = row{"type": "exec", "command": []any{"ls"}}, "function_call_output"
		default:
			call["arguments"], kinds[id] = row{"q": 1}, "tool_search_output"
		}
		call["type"] = strings.Replace(strings.TrimSuffix(kinds[id], "_output"), "tool_search", "tool_search_call", 1)
		if call["action"] != nil {
			call["type"] = "local_shell_call"
		}
		c.item(f, call)
	}
	if c.often(10) {
		c.item(f, row{"type": pick(&c.world, "web_search_call", "image_generation_call"), "id": "x" + c.word(), "action": row{"query": "q"}, "result": "iVBOR"})
	}
	for _, id := range ids {
		if c.often(7) {
			continue
		}
		output := pick[any](&c.world, "ok "+c.word(), "ok "+c.word(), row{"content": "old " + c.word(), "success": true},
			[]any{row{"type": "input_text", "text": "part " + c.word()}, row{"type": "input_image", "image_url": "https://a.example/c.png"}})
		c.item(f, row{"type": kinds[id], "call_id": id, "output": output, "tools": []any{"t"}})
	}
}

// meta adds the metadata of a session.
func (c *codex) meta(f *file, more row) {
	mode := "legacy"
	if f.numbered {
		mode = "paginated"
	}
	m := row{
		"id": f.session, "session_id": f.session, "timestamp": c.time().Format(stampForm), "cwd": f.cwd, "originator": "codex-tui",
		"cli_version": "0.153.0", "source": "cli", "model_provider": "openai", "history_mode": mode,
	}
	for k, v := range more {
		m[k] = v
	}
	c.row(f, "session_meta", m)
}

// begin adds a file: of a new session, where session is "", or of a segment of one.
func (c *codex) begin(numbered bool, session, segment string, first int, more row) *file {
	n := c.number()
	if session == "" {
		session = fmt.Sprintf("01a06200-0000-7000-8000-%08x%04x", c.seed%(1<<32), n)
	}
	f := &file{session: session, cwd: "/home/a/site", numbered: numbered, ordinal: first, segment: segment, at: c.r.IntN(99)}
	name := "rollout-" + c.time().Format("2006-01-02T15-04-05") + "-" + session
	if segment != "" {
		name += "_" + segment
	}
	c.files["sessions/2025/04/01/"+name+".jsonl"] = f
	c.meta(f, more)
	return f
}

// from names the place behind the first rows of a file.
func (c *codex) from(f *file, rows int) (first int, base row) {
	size := 0
	for _, r := range f.rows[:rows] {
		size += len(line(r))
	}
	first, _ = f.rows[rows-1]["ordinal"].(int)
	id := f.segment
	if id == "" {
		id = f.session
	}
	if c.often(5) {
		size += pick(&c.world, 1, 9999, -1)
	}
	return first + 1, row{"thread_id": id, "end_ordinal_exclusive": first + 1, "end_byte_offset": size}
}

func (c *codex) change() {
	c.seconds += 30 + c.r.IntN(60)
	all := c.paths(func(_ string, f *file) bool { return len(f.rows) > 0 && f.adopted == nil })
	if len(all) == 0 || c.often(10) {
		f := c.begin(c.often(50), "", "", 0, nil)
		if c.often(20) {
			f.damage = pick(&c.world, "bare", "packed")
		}
		for range 1 + c.r.IntN(3) {
			c.turn(f)
		}
		return
	}
	p := pick(&c.world, all...)
	f := c.files[p]
	switch n := c.r.IntN(100); {
	case n < 30:
		for range 1 + c.r.IntN(3) {
			c.turn(f)
		}
	case n < 37:
		if c.often(50) {
			c.meta(f, nil)
		} else {
			c.row(f, "turn_context", row{"cwd": f.cwd, "model": pick(&c.world, "gpt-5", "gpt-5-codex")})
		}
		c.turn(f)
	case n < 45:
		c.compact(f)
		c.turn(f)
	case n < 60:
		c.fork(f)
	case n < 73:
		c.goOn(p, f)
	case n < 80:
		g := c.begin(f.numbered, "", "", 0, row{"source": row{"subagent": pick[any](&c.world, row{"thread_spawn": row{"parent_thread_id": f.session, "depth": 1, "agent_role": "scout"}}, "review")}})
		if c.often(30) {
			g.rows = append(g.rows, copyOf(f.rows)...)
			c.seconds += 5
		}
		c.turn(g)
	case n < 86:
		c.cut(f)
		f.ordinal++
		c.turn(f)
	case n < 89:
		c.files["sessions/2025/04/03/"+path.Base(p)] = f.clone()
		c.turn(f)
	case n < 91:
		delete(c.files, p)
		if c.often(60) {
			c.files["archived_sessions/"+path.Base(p)] = f
		}
	case n < 94:
		c.hole(f)
		if len(f.rows) > 0 {
			c.turn(f)
		}
	case n < 96:
		f.damage = pick(&c.world, "packed", "")
	default:
		c.hurt(f)
	}
}

// compact adds a compaction.
func (c *codex) compact(f *file) {
	var items []any
	for _, r := range f.rows {
		if p, ok := r["payload"].(row); ok && p["type"] == "message" {
			items = append(items, p)
		}
	}
	sum := "sum " + c.word()
	if c.often(30) {
		c.item(f, said("assistant", "output_text", sum))
	}
	var kept any
	if c.often(60) {
		kept = append(slices.Clone(items[max(0, len(items)-2):]), said("user", "input_text", "Another language model started to solve this problem\n"+sum))
	}
	c.row(f, "compacted", row{"message": "Begins\n" + sum, "replacement_history": kept})
}

// fork begins a session with the beginning of another one.
func (c *codex) fork(f *file) {
	rows := 1 + c.r.IntN(len(f.rows))
	if !f.numbered {
		g := c.begin(false, "", "", 0, row{"forked_from_id": f.session})
		g.rows = append(g.rows, copyOf(f.rows[:rows])...)
		if c.often(50) {
			for _, r := range g.rows {
				r["timestamp"] = c.time().Format(stampForm)
			}
		}
		c.seconds += 5
		c.turn(g)
		return
	}
	first, base := c.from(f, rows)
	c.turn(c.begin(true, "", "", first, row{"forked_from_id": f.session, "forked_from_ordinal_exclusive": first, "history_base": base}))
}

// goOn lets a thread go on in a file of its own.
func (c *codex) goOn(p string, f *file) {
	if f.numbered {
		first, base := c.from(f, pick(&c.world, len(f.rows), 1+c.r.IntN(len(f.rows))))
		segment := fmt.Sprintf("01a06200-0000-7000-9000-%08x%04x", c.seed%(1<<32), c.number())
		c.turn(c.begin(true, f.session, segment, first, row{"history_base": base}))
		return
	}
	id := path.Base(p)[len("rollout-2006-01-02T15-04-05"):]
	g := f.clone()
	c.files[pick(&c.world, "sessions/2025/04/01/", "sessions/2025/04/02/")+"rollout-"+c.time().Format("2006-01-02T15-04-05")+id] = g
	c.turn(g)
	if c.often(30) {
		c.turn(f)
	}
}
