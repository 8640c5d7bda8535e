package foreign_test

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

// toolFile is a file of a tool.
type toolFile struct {
	content string
	gone    bool
	past    []string // what it held before
	changed int      // when, on the clock of the home
}

// home is the directories of both tools, in which accidents happen. What happens is
// decided by numbers, so that a list of them can be run again without some of them.
type home struct {
	dir   string
	files map[string]*toolFile // by path: the tool, then below its directory
	rest  map[string]string    // what the tool still writes to a file as it was made up
	subs  map[string]bool      // files of sub-agents
	words *words
	now   int

	copied bool // a history stands in two files
}

func newHome(dir string, w *words, families []family, cut uint64) *home {
	h := &home{dir: dir, files: map[string]*toolFile{}, rest: map[string]string{}, subs: map[string]bool{}, words: w}
	for _, f := range families {
		names := slices.Sorted(maps.Keys(f.files))
		repeated := slices.ContainsFunc(names, repeats) // what repeats a file comes after it
		for _, name := range names {
			all, at := lines(f.files[name]), string(f.tool)+"/"+name
			n := len(all)
			if cut%3 == 0 && n > 2 && !repeated {
				n = 2 + int(cut/3%uint64(n-1))
			}
			cut = cut/7 + 1
			h.subs[at] = isAgent(name) || strings.Contains(f.files[name], `"subagent":`)
			h.rest[at] = strings.Join(all[n:], "")
			h.put(at, strings.Join(all[:n], ""))
		}
	}
	return h
}

// isAgent reports whether a file is of a sub-agent of Claude Code.
func isAgent(name string) bool { return strings.HasPrefix(path.Base(name), "agent-") }

// repeats reports whether a file of a sub-agent repeats the conversation.
func repeats(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(base, "agent-aside_question") || strings.HasPrefix(base, "agent-acompact")
}

func toolOf(name string) foreign.Tool {
	tool, _, _ := strings.Cut(name, "/")
	return foreign.Tool(tool)
}

// put writes a file, at the next moment.
func (h *home) put(name, content string) {
	f := h.files[name]
	if f == nil {
		f = &toolFile{}
		h.files[name] = f
	} else {
		f.past = append(f.past, f.content)
	}
	h.now++
	f.content, f.gone, f.changed = content, false, h.now
	at := filepath.Join(h.dir, filepath.FromSlash(name))
	must(os.MkdirAll(filepath.Dir(at), 0o700))
	must(os.WriteFile(at, []byte(content), 0o600))
	h.stamp(name)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func (h *home) stamp(name string) {
	t := time.Date(2025, 1, 1, 0, 0, h.files[name].changed, 0, time.UTC)
	must(os.Chtimes(filepath.Join(h.dir, filepath.FromSlash(name)), t, t))
}

// time returns the next moment as the tools write it.
func (h *home) time() string {
	h.now++
	return time.Date(2027, 1, 1, 0, 0, h.now, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
}

// some returns one of the files that are there and fit, "" where there is none.
func (h *home) some(n uint64, fits func(name string) bool) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(h.files)) {
		if !h.files[name].gone && strings.HasSuffix(name, ".jsonl") && (fits == nil || fits(name)) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return names[n%uint64(len(names))]
}

// step is one thing that happens, decided by three numbers.
type step struct {
	what    string
	a, b, c uint64
}

// accidents are what happens between two imports.
var accidents = []string{"cut", "back", "append", "append", "branch", "branch", "copy", "swap", "remove", "kill"}

// do has a step happen, and tells it.
func (h *home) do(s step) string {
	name := h.some(s.a, nil)
	if name == "" && s.what != "back" {
		return "nothing is left"
	}
	switch s.what {
	case "cut":
		return h.cut(name, s)
	case "back":
		return h.back(s)
	case "append", "branch":
		// A summary is done once it is there, and nobody goes back in what repeats a conversation.
		name = h.newest(h.some(s.a, func(name string) bool {
			return !strings.HasPrefix(path.Base(name), "agent-acompact") && (s.what == "append" || !repeats(name))
		}), s)
		switch {
		case name == "":
			return "nothing goes on"
		case s.what == "append":
			return h.append(name, s)
		}
		return h.branch(name, s)
	case "copy":
		return h.copy(s)
	case "swap":
		other := h.some(s.b, nil)
		a, b := h.files[name], h.files[other]
		a.changed, b.changed = b.changed, a.changed
		h.stamp(name)
		h.stamp(other)
		return "swap the times of " + name + " and " + other
	case "remove":
		h.files[name].past = append(h.files[name].past, h.files[name].content)
		h.files[name].content, h.files[name].gone = "", true
		must(os.Remove(filepath.Join(h.dir, filepath.FromSlash(name))))
		return "remove " + name
	}
	panic(s.what)
}

// newest returns in the most cases the newest file of a thread of Codex: there it goes
// on.
func (h *home) newest(name string, s step) string {
	if name == "" || toolOf(name) != foreign.Codex || s.c%4 == 0 {
		return name
	}
	for _, other := range slices.Sorted(maps.Keys(h.files)) {
		f := h.files[other]
		if !f.gone && path.Dir(other) == path.Dir(name) && threadOf(foreign.Codex, other) == threadOf(foreign.Codex, name) {
			name = other
		}
	}
	return name
}

func (h *home) cut(name string, s step) string {
	was := h.files[name].content
	n := s.b % uint64(len(was)+1)
	if s.c%2 == 0 { // between two lines
		all := lines(was)
		n = uint64(len(strings.Join(all[:s.b%uint64(len(all)+1)], "")))
	}
	h.put(name, was[:n])
	return fmt.Sprintf("cut %s at byte %d of %d, in line %d of %d", name, n, len(was), strings.Count(was[:n], "\n")+1, strings.Count(was, "\n"))
}

func (h *home) back(s step) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(h.files)) {
		if len(h.files[name].past) > 0 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "no earlier state"
	}
	name := names[s.a%uint64(len(names))]
	n := int(s.b % uint64(len(h.files[name].past)))
	content := h.files[name].past[n]
	h.put(name, content)
	return fmt.Sprintf("put back state %d of %s, of %d lines", n+1, name, strings.Count(content, "\n"))
}

// append has the tool go on: with what was made up, or with a turn of its own.
func (h *home) append(name string, s step) string {
	if rest := h.rest[name]; rest != "" && h.files[name].past == nil && s.b%2 == 0 {
		all := lines(rest)
		n := 1 + int(s.c%uint64(len(all)))
		h.rest[name] = strings.Join(all[n:], "")
		was := h.files[name].content
		h.put(name, was+strings.Join(all[:n], ""))
		h.files[name].past = nil // the rest still follows
		return fmt.Sprintf("append the next %d lines to %s", n, name)
	}
	if toolOf(name) == foreign.Codex {
		return h.turnOfCodex(name, s, nil, "append a turn")
	}
	all := h.records(name)
	parent := any(nil)
	if len(all) > 0 {
		parent = all[len(all)-1]["uuid"]
	}
	return h.turnOfClaude(name, s, parent, "append a turn")
}

// records returns the records of a file of Claude Code that others may follow.
func (h *home) records(name string) (all []row) {
	for _, line := range lines(h.files[name].content) {
		r := parseRow(line)
		switch text(r["type"]) {
		case "user", "assistant", "system", "attachment":
			if text(r["uuid"]) != "" {
				all = append(all, r)
			}
		}
	}
	return all
}

// open returns a file's content, to which lines can be added: behind the end of a
// line, or behind a line that was cut.
func (h *home) open(name string, s step) string {
	was := h.files[name].content
	if was != "" && !strings.HasSuffix(was, "\n") && (s.c/5%4 != 0 || isAgent(name)) {
		was += "\n"
	}
	return was
}

// turnOfClaude writes a turn behind a record.
func (h *home) turnOfClaude(name string, s step, parent any, what string) string {
	base := row{"cwd": "/home/ana/site", "sessionId": threadOf(foreign.Claude, name), "version": "2.1.200", "userType": "external", "isSidechain": false}
	for _, r := range h.records(name) {
		for _, member := range []string{"cwd", "sessionId", "isSidechain", "agentId"} {
			if v, found := r[member]; found {
				base[member] = v
			}
		}
	}
	out, w := h.open(name, s), h.words
	write := func(kind string, content any) {
		r := maps.Clone(base)
		h.now++
		id := fmt.Sprintf("99999999-0000-4000-8000-%012x", h.now)
		r["uuid"], r["parentUuid"], r["type"], r["timestamp"] = id, parent, kind, h.time()
		r["message"] = row{"role": kind, "content": content}
		if kind == "assistant" {
			r["message"] = row{"id": "msg_" + id, "role": kind, "model": "claude-x", "content": content}
		}
		out += w.printed(r) + "\n"
		parent = id
	}
	prompt := w.of(aPrompt, "")
	write("user", "asked "+prompt)
	said := prompt
	if s.c/4%3 == 0 {
		word, call := w.of(anEnd, ""), fmt.Sprint("toolu_", h.now)
		write("assistant", []any{row{"type": "tool_use", "id": call, "name": "Bash", "input": row{"word": word}}})
		write("user", []any{row{"type": "tool_result", "tool_use_id": call, "content": "ok"}})
		said += " " + word
	}
	if s.c/12%5 > 0 {
		word := w.of(anEnd, "")
		write("assistant", says("answered "+word))
		said += " " + word
	}
	h.put(name, out)
	return fmt.Sprintf("%s to %s: %s", what, name, said)
}

// turnOfCodex writes a turn in the way of the file, behind the given lines.
func (h *home) turnOfCodex(name string, s step, before []row, what string) string {
	out, w := h.open(name, s), h.words
	all := lines(h.files[name].content)
	ordinal, events, bare := -1, false, false
	for _, line := range all {
		r := parseRow(line)
		if n := fmt.Sprint(r["ordinal"]); r["ordinal"] != nil {
			_, _ = fmt.Sscan(n, &ordinal)
		}
		events = events || strings.Contains(line, `"user_message"`)
	}
	if first := parseRow(strings.Join(all[:min(1, len(all))], "")); first != nil {
		bare = first["payload"] == nil
	}
	write := func(kind string, payload row) {
		r := row{"timestamp": h.time(), "type": kind, "payload": payload}
		if ordinal >= 0 {
			ordinal++
			r["ordinal"] = ordinal
		}
		if bare {
			r = payload
		}
		out += w.printed(r) + "\n"
	}
	for _, r := range before {
		write("event_msg", r)
	}
	message := func(role, part, item, event, said string) {
		write("response_item", row{"type": "message", "role": role, "content": []any{row{"type": part, "text": said}}})
		switch {
		case ordinal >= 0:
			write("event_msg", row{"type": "item_completed", "item": row{"type": item, "id": "i", "content": []any{row{"type": "text", "text": said}}}})
		case events:
			write("event_msg", row{"type": event, "message": said})
		}
	}
	said := w.of(aPrompt, "")
	message("user", "input_text", "UserMessage", "user_message", "asked "+said)
	if s.c/4%3 == 0 {
		word, call := w.of(anEnd, ""), fmt.Sprint("call_", h.now)
		write("response_item", row{"type": "function_call", "name": "shell", "arguments": `{"word":"` + word + `"}`, "call_id": call})
		write("response_item", row{"type": "function_call_output", "call_id": call, "output": "ok"})
		said += " " + word
	}
	if s.c/12%5 > 0 {
		word := w.of(anEnd, "")
		message("assistant", "output_text", "AgentMessage", "agent_message", "answered "+word)
		said += " " + word
	}
	h.put(name, out)
	return fmt.Sprintf("%s to %s: %s", what, name, said)
}

// branch has the tool go back, and on from there.
func (h *home) branch(name string, s step) string {
	if toolOf(name) == foreign.Claude {
		all := h.records(name)
		if len(all) == 0 {
			return h.turnOfClaude(name, s, nil, "append a turn")
		}
		r := all[s.b%uint64(len(all))]
		for _, part := range all { // nobody goes back into the midst of a response
			if id := text(object(part["message"])["id"]); id != "" && id == text(object(r["message"])["id"]) {
				r = part
			}
		}
		from := r["uuid"]
		if wordPattern.MatchString(h.words.printed(r)) && text(r["type"]) == "user" && s.c%3 > 0 {
			from = r["parentUuid"] // the prompt is written anew
		}
		return h.turnOfClaude(name, s, from, fmt.Sprintf("append a branch behind %v", from))
	}
	all := lines(h.files[name].content)
	var first row
	if len(all) > 0 {
		first = parseRow(all[0])
	}
	meta := object(first["payload"])
	if text(first["type"]) != "session_meta" || first["ordinal"] == nil {
		n := 1 + int(s.b%3)
		return h.turnOfCodex(name, s, []row{{"type": "thread_rolled_back", "num_turns": n}}, fmt.Sprintf("roll %d turns back and append one", n))
	}
	begins := []int{len(all)} // where turns begin, and the end
	for i, line := range all {
		r := parseRow(line)
		if text(r["type"]) == "response_item" && text(object(r["payload"])["role"]) == "user" && wordPattern.MatchString(line) {
			begins = append(begins, i)
		}
	}
	if last := all[len(all)-1]; parseRow(last) == nil || !strings.HasSuffix(last, "\n") {
		begins = begins[1:]
	}
	if len(begins) == 0 {
		return "no turn to go back to in " + name
	}
	n := begins[s.b%uint64(len(begins))]
	ordinal := 0
	_, _ = fmt.Sscan(fmt.Sprint(first["ordinal"]), &ordinal)
	h.now++
	id := fmt.Sprintf("01b00000-0000-7000-8000-%012x", h.now)
	dir, base := path.Split(name)
	own := strings.TrimSuffix(strings.Split(base, "_")[0], ".jsonl")
	next := dir + own + "_" + id + ".jsonl"
	p := maps.Clone(meta)
	delete(p, "forked_from_id")
	delete(p, "forked_from_ordinal_exclusive")
	p["history_base"] = row{"thread_id": fileID(name), "end_ordinal_exclusive": ordinal + n, "end_byte_offset": len(strings.Join(all[:n], ""))}
	h.put(next, h.words.printed(row{"timestamp": h.time(), "ordinal": ordinal + n, "type": "session_meta", "payload": p})+"\n")
	what := fmt.Sprintf("go on behind line %d of %d of %s in a new file, and append a turn", n, len(all), name)
	return h.turnOfCodex(next, s, nil, what)
}

var cwdPattern = regexp.MustCompile(`"cwd":"[^"]*"`)

// copy copies a file to a second folder, whole or cut, with its directory or another.
func (h *home) copy(s step) string {
	name := h.some(s.a, func(name string) bool { return !h.subs[name] })
	if name == "" {
		return "nothing to copy"
	}
	content, what := h.files[name].content, "copy"
	if s.b%2 == 0 {
		n := s.b / 2 % uint64(len(content)+1)
		if s.c%2 == 0 {
			all := lines(content)
			n = uint64(len(strings.Join(all[:s.b/2%uint64(len(all)+1)], "")))
		}
		content, what = content[:n], fmt.Sprintf("copy %d of %d bytes of", n, len(content))
	}
	to := "claude/projects/-home-ana-other/" + path.Base(name)
	if toolOf(name) == foreign.Codex {
		to = "codex/archived_sessions/" + path.Base(name)
	}
	if to == name {
		to = strings.Replace(to, "-home-ana-other", "-home-ana-third", 1)
	}
	if s.c/2%2 == 0 {
		content = cwdPattern.ReplaceAllString(content, `"cwd":"/home/ana/other"`)
		what += ", for another project,"
	}
	h.put(to, content)
	h.copied = true
	return fmt.Sprintf("%s %s to %s", what, name, to)
}

// where tells where words stood in the files, of the first few in a text.
func (h *home) where(said string) (told []string) {
	found := wordPattern.FindAllString(said, 4)
	for _, word := range slices.Compact(found) {
		for _, name := range slices.Sorted(maps.Keys(h.files)) {
			for _, state := range append(slices.Clone(h.files[name].past), h.files[name].content) {
				if before, _, found := strings.Cut(state, word); found {
					told = append(told, fmt.Sprintf("(%s: %s, in line %d of %s)", word, h.words.class[word], strings.Count(before, "\n")+1, name))
					break
				}
			}
		}
	}
	return told
}

// baseless reports whether a file of Codex goes on from a place that is not there, or
// not as it was.
func (h *home) baseless(name string) bool {
	first := parseRow(strings.Join(lines(h.files[name].content + "\n")[:1], ""))
	base := object(object(first["payload"])["history_base"])
	if base == nil {
		return false
	}
	found := false
	for other, f := range h.files {
		if f.gone || toolOf(other) != foreign.Codex || fileID(other) != text(base["thread_id"]) {
			continue
		}
		offset, ordinal := 0, ""
		for _, line := range lines(f.content) {
			ordinal = fmt.Sprint(parseRow(line)["ordinal"])
			if fmt.Sprint(offset) == fmt.Sprint(base["end_byte_offset"]) {
				break
			}
			offset += len(line)
		}
		end := fmt.Sprint(base["end_ordinal_exclusive"])
		if fmt.Sprint(offset) != fmt.Sprint(base["end_byte_offset"]) || offset < len(f.content) && ordinal != end || h.baseless(other) {
			return true
		}
		found = true
	}
	return !found
}
