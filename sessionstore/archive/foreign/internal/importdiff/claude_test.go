package importdiff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// claude is a home of Claude Code.
type claude struct{ world }

var folders = []string{"-home-a-wt", "-home-a-site", "-home-a-new"}

func (c *claude) save(dir string) error {
	if err := c.write(dir, "projects"); err != nil {
		return err
	}
	for _, p := range c.paths(func(_ string, f *file) bool { return f.agent != "" }) {
		if f := c.files[p]; f.at%3 == 1 {
			about := line(row{"agentType": "Explore", "description": "task of " + f.agent})
			if err := write(path.Join(dir, strings.TrimSuffix(p, ".jsonl")+".meta.json"), about); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *claude) adopt(name string, b []byte) {
	if c.often(15) { // the tool forks it
		id := c.uuid(9)
		b, name = bytes.ReplaceAll(b, []byte(strings.TrimSuffix(name, ".jsonl")), []byte(id)), id+".jsonl"
	}
	f := &file{adopted: b, session: strings.TrimSuffix(name, ".jsonl"), cwd: "/home/a/site"}
	for l := range bytes.Lines(b) {
		var r struct{ UUID string }
		if json.Unmarshal(l, &r) == nil && r.UUID != "" {
			f.last = r.UUID
		}
	}
	for _, p := range c.mains() {
		if path.Base(p) == name {
			delete(c.files, p)
		}
	}
	c.files["projects/-home-a-site/"+name] = f
	if c.often(90) {
		c.turn(f)
	} else {
		f.rows = append(f.rows, row{"type": "tag", "tag": "x", "sessionId": f.session})
	}
}

// record adds a record to a file.
func (c *claude) record(f *file, kind string, more row) row {
	r := row{
		"parentUuid": nil, "isSidechain": f.aside, "userType": "external", "cwd": f.cwd, "sessionId": f.session,
		"version": "2.1.170", "type": kind, "uuid": c.uuid(1), "timestamp": c.tick(),
	}
	if f.last != "" {
		r["parentUuid"] = f.last
	}
	if f.agent != "" {
		r["agentId"] = f.agent
	}
	for k, v := range more {
		r[k] = v
	}
	f.rows, f.last = append(f.rows, r), r["uuid"].(string)
	return r
}

func (c *claude) user(f *file, content any, more row) row {
	m := row{"message": row{"role": "user", "content": content}}
	for k, v := range more {
		m[k] = v
	}
	return c.record(f, "user", m)
}

func (c *claude) answer(f *file, id string, blocks ...any) row {
	return c.record(f, "assistant", row{"requestId": "req_" + id, "message": row{
		"id": id, "type": "message", "role": "assistant", "model": pick(&c.world, "claude-opus-4-8", "claude-opus-4-8", "claude-haiku-4-5"), "content": blocks,
		"usage": row{"input_tokens": 10 + c.ids%7, "output_tokens": 3, "cache_read_input_tokens": 5},
	}})
}

func text(s string) row { return row{"type": "text", "text": s} }

func (c *claude) response() string { return fmt.Sprint("msg_", c.number()) }

// ask adds a prompt.
func (c *claude) ask(f *file) {
	switch n := c.r.IntN(100); {
	case n < 75:
		c.user(f, "ask "+c.word(), nil)
	case n < 80:
		c.user(f, []any{text("see " + c.word()), c.image()}, nil)
	case n < 83:
		c.user(f, []any{c.image()}, nil)
	case n < 93:
		c.user(f, c.oddText(), pick(&c.world, row(nil), nil, row{"isMeta": true}, row{"origin": row{"kind": "human"}}))
	case n < 96:
		c.user(f, []any{text("<ide_selection>x</ide_selection>"), text("typed " + c.word())}, row{"newMember": 1})
	default:
		c.record(f, "attachment", row{"attachment": row{"type": "queued_command", "prompt": "queued " + c.word(), "commandMode": pick(&c.world, "prompt", "bash", "")}})
	}
}

// turn adds a prompt and what the tool did on it.
func (c *claude) turn(f *file) {
	c.ask(f)
	if c.often(10) {
		c.record(f, "attachment", row{"attachment": row{"type": pick(&c.world, "skill_listing", "fork_briefing"), "content": "x"}})
	}
	if c.often(12) {
		if c.often(30) {
			c.record(f, "assistant", row{"message": row{"id": c.uuid(2), "model": "<synthetic>", "role": "assistant", "content": []any{text("No response requested.")}}})
		}
		return
	}
	for range pick(&c.world, 1, 1, 2, 3) {
		c.work(f)
	}
	if c.often(50) {
		c.answer(f, c.response(), text("end "+c.word()))
	}
	c.beside(f)
}

// beside adds lines that are no records of the conversation.
func (c *claude) beside(f *file) {
	if c.often(15) {
		c.record(f, "system", row{"subtype": "turn_duration", "durationMs": 5})
	}
	if c.often(40) {
		return
	}
	kind := pick(&c.world, "last-prompt", "custom-title", "ai-title", "summary", "tag", "never-seen", "file-history-snapshot")
	r := row{"type": kind, "sessionId": f.session}
	switch kind {
	case "last-prompt":
		r["lastPrompt"], r["leafUuid"], r["explicit"] = "x", f.last, c.often(20)
		if c.often(30) {
			r["leafUuid"] = c.anyRecord(f)["uuid"]
		}
	case "custom-title":
		r["customTitle"] = "T " + c.word()
	case "ai-title":
		r["aiTitle"] = "A " + c.word()
	case "summary":
		r["summary"], r["leafUuid"] = "S "+c.word(), f.last
	}
	f.rows = append(f.rows, r)
}

// records returns the records of a file.
func records(f *file) (all []row) {
	for _, r := range f.rows {
		if r["uuid"] != nil {
			all = append(all, r)
		}
	}
	return all
}

func (c *claude) anyRecord(f *file) row {
	if all := records(f); len(all) > 0 {
		return pick(&c.world, all...)
	}
	return row{"uuid": f.last}
}

// work adds one response, in several lines, with the results of its calls.
func (c *claude) work(f *file) {
	id, before := c.response(), f.last
	if c.often(30) {
		c.answer(f, id, row{"type": pick(&c.world, "thinking", "redacted_thinking"), "thinking": "hm", "signature": "s"})
	}
	if c.often(60) {
		c.answer(f, id, text("say "+c.word()))
	}
	n := pick(&c.world, 0, 0, 1, 1, 2, 3)
	if n == 0 {
		if f.last == before {
			c.answer(f, id, text("say "+c.word()))
		}
		return
	}
	var calls [][2]string
	for range n {
		call := pick(&c.world, fmt.Sprint("toolu_", c.number()), fmt.Sprint("toolu_", c.number()), fmt.Sprint("toolu_", c.number()), "toolu_same", "odd id !")
		input := pick[any](&c.world, row{"command": "ls"}, row{"prompt": "ask w" + fmt.Sprint(c.words+1), "description": "D " + c.word()}, []any{1}, "text", row{"command": "ls"})
		a := c.answer(f, id, row{"type": "tool_use", "id": call, "name": pick(&c.world, "Bash", "Task", "mcp bad.name"), "input": input})
		calls = append(calls, [2]string{call, a["uuid"].(string)})
	}
	apart := c.often(60) && n > 1
	c.r.Shuffle(n, func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
	for _, call := range calls {
		if c.often(6) {
			continue
		}
		if apart {
			f.last = call[1] // the results look like branches
		}
		if c.often(10) {
			c.record(f, "progress", row{"data": row{"type": "bash_progress"}})
		}
		content := pick[any](&c.world, "ok "+c.word(), "ok "+c.word(), []any{text("ok " + c.word()), c.image()}, []any{}, nil)
		c.user(f, []any{row{"type": "tool_result", "tool_use_id": call[0], "content": content, "is_error": c.often(10)}}, row{"toolUseResult": "ok", "sourceToolAssistantUUID": call[1]})
		if c.often(12) {
			c.between(f, call[1])
		}
	}
}

// between adds a prompt between the results of a response.
func (c *claude) between(f *file, call string) {
	keep := f.last
	if c.often(50) {
		f.last = call
	}
	c.user(f, "between "+c.word(), nil)
	if c.often(40) {
		c.answer(f, c.response(), text("also "+c.word()))
	}
	if c.often(60) {
		f.last = keep
	}
}

// compact adds a compaction that goes on from a record.
func (c *claude) compact(f *file, from string) {
	about := row{"trigger": "auto", "preTokens": 9}
	if c.often(30) {
		about["preservedSegment"] = row{"headUuid": c.anyRecord(f)["uuid"], "tailUuid": f.last, "anchorUuid": c.anyRecord(f)["uuid"]}
	}
	b := c.record(f, "system", row{"subtype": "compact_boundary", "content": "Conversation compacted", "logicalParentUuid": from, "compactMetadata": about})
	b["parentUuid"] = nil
	c.user(f, "This session is being continued from a previous conversation that ran out of context. Sum "+c.word(), row{"isCompactSummary": true, "isVisibleInTranscriptOnly": true})
}

func (c *claude) begin(cwd string) *file {
	f := &file{session: c.uuid(9), cwd: cwd}
	c.files["projects/"+regexp.MustCompile(`[^a-zA-Z0-9]`).ReplaceAllString(cwd, "-")+"/"+f.session+".jsonl"] = f
	return f
}

// mains returns the paths of the files of sessions.
func (c *claude) mains() []string {
	return c.paths(func(p string, f *file) bool {
		return strings.Count(p, "/") == 2 && !strings.HasPrefix(path.Base(p), "agent-") && len(f.rows) > 0
	})
}

func (c *claude) change() {
	all := c.mains()
	if len(all) == 0 || c.often(5) {
		c.turn(c.begin(pick(&c.world, "/home/a/site", "/home/a/site", "/home/a/wt")))
		return
	}
	p := pick(&c.world, all...)
	f := c.files[p]
	if len(records(f)) == 0 {
		c.turn(f)
		return
	}
	switch n := c.r.IntN(100); {
	case n < 28:
		for range 1 + c.r.IntN(3) {
			c.turn(f)
		}
	case n < 37:
		c.takeBack(f)
	case n < 45:
		c.compact(f, pick(&c.world, f.last, f.last, c.uuid(7), c.files[pick(&c.world, all...)].last))
		c.turn(f)
	case n < 56:
		c.goOn(f)
	case n < 64:
		c.copyIn(p, f)
	case n < 67:
		c.move(p, f)
	case n < 82:
		c.agent(p, f, all)
	case n < 86:
		c.cut(f)
		f.last = ""
		if some := records(f); len(some) > 0 {
			f.last = some[len(some)-1]["uuid"].(string)
		}
		c.turn(f)
	case n < 90:
		c.hole(f)
		c.turn(f)
	case n < 92:
		c.anyRecord(f)["parentUuid"] = pick(&c.world, c.uuid(6), c.files[pick(&c.world, all...)].last, c.anyRecord(f)["uuid"].(string))
	case n < 93 && len(all) > 1:
		delete(c.files, p)
	case n < 95:
		f.rows = append(f.rows, copyOf(records(f)[:1+c.r.IntN(len(records(f)))])...)
		c.turn(f)
	default:
		c.hurt(f)
	}
}

// takeBack lets the conversation go on from an earlier record.
func (c *claude) takeBack(f *file) {
	r := c.anyRecord(f)
	f.last = r["uuid"].(string)
	if before, ok := r["parentUuid"].(string); ok && c.often(70) {
		f.last = before
	}
	c.turn(f)
}

// goOn lets a session go on in a file of its own.
func (c *claude) goOn(f *file) {
	g := c.begin(f.cwd)
	rename := func(rows []row) []row {
		for _, r := range rows {
			r["sessionId"] = g.session
		}
		return rows
	}
	some := records(f)
	switch c.r.IntN(6) {
	case 0, 1:
		g.rows = rename(copyOf(f.rows))
		if c.often(40) {
			c.cut(g)
		}
		g.last = c.anyRecord(g)["uuid"].(string)
		if all := records(g); len(all) > 0 {
			g.last = all[len(all)-1]["uuid"].(string)
		}
	case 2:
		g.rows, g.last = rename(copyOf(some)), f.last
		for _, r := range g.rows {
			r["forkedFrom"] = row{"sessionId": f.session, "messageUuid": r["uuid"]}
		}
	case 3:
		g.last = f.last // the parent is in another file
	case 4:
		g.rows, g.last = []row{{"type": "summary", "summary": "S " + c.word(), "leafUuid": f.last}}, pick(&c.world, "", f.last)
	default:
		g.rows, g.last = rename(copyOf(some[len(some)/2:])), f.last
	}
	c.turn(g)
	if c.often(20) {
		f.rows = append(f.rows, row{"type": "continued-in", "sessionId": f.session, "continuedInSessionId": g.session})
	}
}

// copyIn gives a session a file in a second folder.
func (c *claude) copyIn(p string, f *file) {
	other := "projects/" + pick(&c.world, folders...) + "/" + path.Base(p)
	g := c.files[other]
	if g == nil {
		g = f.clone()
		c.files[other] = g
		if c.often(50) {
			g.cwd = strings.ReplaceAll(path.Base(path.Dir(other)), "-", "/")
		}
		if c.often(20) {
			for _, r := range g.rows {
				if r["cwd"] != nil {
					r["cwd"] = g.cwd
				}
			}
		}
	}
	if c.often(60) {
		c.turn(g)
	}
	if c.often(30) {
		c.turn(f)
	}
}

// move moves a session to another folder.
func (c *claude) move(p string, f *file) {
	top := "projects/-home-a-moved/"
	if c.files[top+path.Base(p)] != nil {
		return
	}
	old, stem := path.Dir(p)+"/", strings.TrimSuffix(p, ".jsonl")+"/"
	for _, q := range c.paths(func(q string, _ *file) bool { return q == p || strings.HasPrefix(q, stem) }) {
		c.files[top+strings.TrimPrefix(q, old)] = c.files[q]
		delete(c.files, q)
	}
	if c.often(60) {
		f.cwd = "/home/a/moved"
	}
	c.turn(f)
}

// agent lets a sub-agent of a session work.
func (c *claude) agent(p string, f *file, all []string) {
	mine := c.paths(func(_ string, g *file) bool { return g.agent != "" && g.session == f.session })
	if len(mine) > 0 && c.often(60) {
		q := pick(&c.world, mine...)
		if c.often(40) {
			other := "projects/" + pick(&c.world, folders...) + q[len(path.Dir(p)):]
			if strings.Count(q, "/") > 2 && c.files[other] == nil {
				c.files[other] = c.files[q].clone()
				c.turn(c.files[other])
			}
		}
		c.turn(c.files[q])
		if c.often(10) {
			c.hurt(c.files[q])
		}
		return
	}
	g := &file{session: f.session, cwd: f.cwd, aside: true, agent: fmt.Sprintf("%07x", c.r.IntN(1<<28)), at: c.r.IntN(9)}
	copies := c.often(18)
	if copies {
		g.agent = pick(&c.world, "aside_question-", "acompact-") + g.agent
		g.rows, g.last = copyOf(records(f)), f.last
		for _, r := range g.rows {
			r["isSidechain"], r["agentId"] = true, g.agent
		}
		c.user(g, "aside "+c.word(), nil)
		c.answer(g, c.response(), text("to the side "+c.word()))
	} else {
		c.turn(g)
		if c.often(15) {
			g.rows[len(g.rows)-1]["parentUuid"] = c.uuid(8)
		}
		if c.often(30) {
			c.turn(g)
		}
	}
	name := "agent-" + g.agent + ".jsonl"
	switch n := c.r.IntN(100); {
	case n < 70:
		c.files[strings.TrimSuffix(p, ".jsonl")+"/subagents/"+name] = g
	case n < 78:
		c.files["projects/"+pick(&c.world, folders...)+"/"+f.session+"/subagents/"+name] = g
	case n < 88:
		c.files[path.Dir(p)+"/"+name] = g
	default:
		for _, r := range g.rows {
			delete(r, "agentId")
		}
		f.rows = slices.Concat(f.rows, g.rows)
	}
	if c.often(30) {
		c.turn(c.files[pick(&c.world, all...)])
	}
}
