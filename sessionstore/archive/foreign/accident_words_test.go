package foreign_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

// Each prompt, answer and call of a history has a word that stands nowhere else, so
// that it can be found again in the sessions.

// class is what a word stands in.
type class string

const (
	aPrompt class = "prompt" // of a person
	anEnd   class = "answer" // or a call: something that was done
)

var wordPattern = regexp.MustCompile(`w\d{5}z`)

// words gives out words. The same place of the same record has the same word, also
// where another file repeats the record.
type words struct {
	next  int
	known map[string]string // by place
	class map[string]class
}

func newWords(from int) *words {
	return &words{next: from, known: map[string]string{}, class: map[string]class{}}
}

// of returns the word of a place, or a new one for place "".
func (w *words) of(c class, place string) string {
	if word, known := w.known[place]; known && place != "" {
		return word
	}
	w.next++
	word := fmt.Sprintf("w%05dz", w.next)
	w.known[place], w.class[word] = word, c
	return word
}

// row is a line of a tool as JSON, nil where it is none.
type row = map[string]any

func parseRow(line string) row {
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	var r row
	if d.Decode(&r) != nil || d.More() {
		return nil
	}
	return r
}

func (w *words) printed(r row) string {
	raw, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// lines returns the lines of a text, each with its end.
func lines(text string) []string {
	all := strings.SplitAfter(text, "\n")
	return all[:len(all)-1+min(1, len(all[len(all)-1]))]
}

// mark puts words into the lines of a file. The group tells histories of Codex that
// repeat each other.
func (w *words) mark(tool foreign.Tool, group, text string) []string {
	m := marker{words: w, group: group, seen: map[string]int{}}
	marked := lines(text)
	for _, events := range []bool{false, true} {
		for i, line := range marked {
			r := parseRow(line)
			switch {
			case r == nil:
				continue
			case tool == foreign.Codex:
				m.codex(r, events)
			case !events:
				m.claude(r, i)
			}
			marked[i] = w.printed(r) + "\n"
		}
	}
	if n := len(marked); n > 0 && !strings.HasSuffix(text, "\n") {
		marked[n-1] = strings.TrimSuffix(marked[n-1], "\n")
	}
	return marked
}

// marker marks one file.
type marker struct {
	*words
	group string
	seen  map[string]int // how often a text stood in the file, by what it is in
}

func object(v any) row { r, _ := v.(row); return r }

func text(v any) string { s, _ := v.(string); return s }

func list(v any) []any { l, _ := v.([]any); return l }

// byTool tells texts that nobody typed, and commands.
var byTool = regexp.MustCompile(`^\s*(<|\[Request interrupted|# AGENTS\.md|Unknown s|Caveat:|This session is being continued)`)

func isAside(said string) bool { return strings.Contains(said, "This is a side question") }

// say puts a word into a text.
func (m marker) say(c class, said, place string) string {
	word := m.of(c, place)
	if before, found := strings.CutSuffix(said, "</system-reminder>"); found {
		return before + " " + word + "</system-reminder>"
	}
	return said + " " + word
}

func (m marker) claude(r row, line int) {
	msg, place := object(r["message"]), fmt.Sprint(m.group, " ", text(r["uuid"]))
	if text(r["uuid"]) == "" {
		place += fmt.Sprint("line ", line)
	}
	kind := text(r["type"])
	if a := object(r["attachment"]); kind == "attachment" && text(a["type"]) == "queued_command" && a["isMeta"] != true {
		mode := text(a["commandMode"])
		if said := text(a["prompt"]); said != "" && !byTool.MatchString(said) && (mode == "" || mode == "prompt") {
			a["prompt"] = m.say(aPrompt, said, place)
		}
	}
	if kind != "user" && kind != "assistant" || r["isMeta"] == true || r["isCompactSummary"] == true || r["isVisibleInTranscriptOnly"] == true {
		return
	}
	c := map[string]class{"user": aPrompt, "assistant": anEnd}[kind]
	mine := func(said string) bool {
		return strings.TrimSpace(said) != "" && (c == anEnd || !byTool.MatchString(said) || isAside(said))
	}
	if said := text(msg["content"]); mine(said) {
		msg["content"] = m.say(c, said, place)
	}
	blocks := list(msg["content"])
	for _, b := range blocks {
		if text(object(b)["type"]) == "tool_result" {
			return
		}
	}
	for i, b := range blocks {
		block, at := object(b), fmt.Sprint(place, "/", i)
		switch text(block["type"]) {
		case "text":
			if said := text(block["text"]); mine(said) {
				block["text"] = m.say(c, said, at)
			}
		case "tool_use":
			if in := object(block["input"]); in != nil {
				in["word"] = m.of(anEnd, at)
			}
		}
	}
}

// place returns which of those with one text in one file a text is.
func (m marker) place(what, said string) string {
	m.seen[what+said]++
	return fmt.Sprint(m.group, " ", strings.TrimPrefix(what, "event "), " ", m.seen[what+said], " ", said)
}

// codex marks the items, and then the events that repeat them.
func (m marker) codex(r row, events bool) {
	p, kind := object(r["payload"]), text(r["type"])
	switch {
	case events && kind == "event_msg":
		m.event(p)
	case events || kind == "event_msg":
	case kind == "compacted":
		inner := marker{m.words, m.group, map[string]int{}} // it repeats what stands before
		for _, it := range list(p["replacement_history"]) {
			inner.item(object(it))
		}
	case kind == "response_item":
		m.item(p)
	case p == nil:
		m.item(r)
	}
}

func (m marker) event(p row) {
	repeat := func(in row, name, who string) {
		place := m.place("event "+who, text(in[name]))
		if word, known := m.known[place]; known {
			in[name] = text(in[name]) + " " + word
		}
	}
	switch text(p["type"]) {
	case "user_message":
		repeat(p, "message", "user")
	case "agent_message":
		repeat(p, "message", "assistant")
	case "item_completed":
		it := object(p["item"])
		who := map[string]string{"UserMessage": "user", "AgentMessage": "assistant"}[text(it["type"])]
		for _, part := range list(it["content"]) {
			repeat(object(part), "text", who)
		}
	}
}

func (m marker) item(it row) {
	switch text(it["type"]) {
	case "message":
		who := text(it["role"])
		c, known := map[string]class{"user": aPrompt, "assistant": anEnd}[who]
		for _, part := range list(it["content"]) {
			if part := object(part); known && text(part["text"]) != "" && (c == anEnd || !byTool.MatchString(text(part["text"]))) {
				part["text"] = m.say(c, text(part["text"]), m.place(who, text(part["text"])))
			}
		}
	case "function_call":
		if in := parseRow(text(it["arguments"])); in != nil {
			in["word"] = m.of(anEnd, m.place("call", text(it["call_id"])))
			it["arguments"] = m.printed(in)
		}
	case "custom_tool_call":
		it["input"] = m.say(anEnd, text(it["input"]), m.place("call", text(it["call_id"])))
	case "local_shell_call", "web_search_call":
		if in := object(it["action"]); in != nil {
			in["word"] = m.of(anEnd, m.place("call", text(it["call_id"])))
		}
	}
}

// told is what a file says: each of its words, and whether something was done about
// the prompt that it stands in.
type told map[string]bool

// readFile returns what the whole lines of a file say.
func (w *words) readFile(tool foreign.Tool, text string) told {
	if tool == foreign.Claude {
		return w.readClaude(text)
	}
	return w.readCodex(text)
}

// record is one of Claude Code, with the one that it follows, -1 for none.
type record struct {
	words  []string
	parent int
	side   bool
	end    bool // an answer, also one without a word
}

// records returns the records of a file. One whose parent is not in the file follows
// the one before it.
func records(content string) (all []record) {
	byID, named, whole := map[string]int{}, []string{}, []int{} // whole: the first record behind the last damaged line
	begin := 0
	for _, line := range lines(content) {
		r := parseRow(line)
		if r == nil {
			if strings.TrimSpace(line) != "" {
				begin = len(all)
			}
			continue
		}
		parent := text(r["parentUuid"])
		if parent == "" {
			parent = text(r["logicalParentUuid"])
		}
		if id := text(r["uuid"]); id != "" {
			byID[id] = len(all)
		}
		end := text(r["type"]) == "assistant"
		if blocks := list(object(r["message"])["content"]); len(blocks) > 0 {
			end = end && slices.ContainsFunc(blocks, func(b any) bool { return text(object(b)["type"]) != "thinking" })
		}
		all = append(all, record{wordPattern.FindAllString(line, -1), -1, r["isSidechain"] == true, end})
		named, whole = append(named, parent), append(whole, begin)
	}
	for i := range all {
		at, found := byID[named[i]]
		for k := i - 1; named[i] != "" && !found && k >= whole[i]; k-- {
			if all[k].side == all[i].side {
				at, found = k, true
			}
		}
		if found && named[i] != "" {
			all[i].parent = at
		}
	}
	return all
}

// chain returns the words from the first record to one, where that was done.
func (w *words) chain(all []record, at int) (said []string) {
	if !all[at].end {
		return nil
	}
	for steps := 0; at >= 0 && steps < len(all); steps++ {
		said = append(said, all[at].words...)
		at = all[at].parent
	}
	return said
}

func (w *words) readClaude(content string) told {
	said, all := told{}, records(content)
	for i, r := range all {
		for _, word := range r.words {
			said[word] = said[word] || w.class[word] == anEnd
		}
		for _, word := range w.chain(all, i) {
			said[word] = true
		}
	}
	return said
}

// answersBeside returns the words of answers that have no prompt of their own, as the
// second answer to one prompt, and the answer to a prompt in a damaged line. A branch of
// them makes no fork. What a session had of it stays, nevertheless.
func (w *words) answersBeside(tool foreign.Tool, content string) map[string]bool {
	beside := map[string]bool{}
	if tool == foreign.Codex {
		damaged := false
		for _, line := range lines(content) {
			for _, word := range wordPattern.FindAllString(line, -1) {
				if damaged = damaged && w.class[word] == anEnd; damaged {
					beside[word] = true
				}
			}
			damaged = damaged || parseRow(line) == nil
		}
		return beside
	}
	all := records(content)
	children := make([]int, len(all))
	for _, r := range all {
		if r.parent >= 0 {
			children[r.parent]++
		}
	}
	for i, r := range all {
		at := r.parent
		for steps := 0; at >= 0 && steps < len(all) && children[at] < 2 && !w.isPrompt(all[at]); steps++ {
			at = all[at].parent
		}
		if at < 0 || children[at] > 1 {
			for _, word := range all[i].words {
				beside[word] = w.class[word] == anEnd
			}
		}
	}
	maps.DeleteFunc(beside, func(_ string, is bool) bool { return !is })
	return beside
}

func (w *words) isPrompt(r record) bool { return len(r.words) > 0 && w.class[r.words[0]] == aPrompt }

// readCodex reads each item behind the one before it. Events repeat items.
func (w *words) readCodex(content string) told {
	said, waiting := told{}, map[string]bool{}
	for _, line := range lines(content) {
		r := parseRow(line)
		if text(object(r["payload"])["type"]) == "thread_rolled_back" {
			clear(waiting)
		}
		if kind := text(r["type"]); r == nil || kind == "compacted" || kind == "event_msg" {
			continue
		}
		for _, word := range wordPattern.FindAllString(line, -1) {
			if w.class[word] == aPrompt {
				waiting[word] = true
				if !said[word] {
					said[word] = false
				}
				continue
			}
			said[word] = true
			for prompt := range waiting {
				said[prompt] = true
			}
			clear(waiting)
		}
	}
	return said
}

// threadOf returns the id of the session that a file is of, as its name says.
func threadOf(tool foreign.Tool, path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	if tool == foreign.Codex {
		name, _, _ = strings.Cut(name, "_")
		if parts := strings.Split(name, "-"); len(parts) > 5 {
			return strings.Join(parts[len(parts)-5:], "-")
		}
		return name
	}
	if !strings.HasPrefix(name, "agent-") {
		return name
	}
	if dir := filepath.Dir(path); filepath.Base(dir) == "subagents" {
		return filepath.Base(filepath.Dir(dir))
	}
	return name
}
