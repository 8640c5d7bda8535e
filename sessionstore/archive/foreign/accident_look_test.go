package foreign_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

// look reads what is stored, and checks it. What still stands in the files of the tools
// may be left to the next import.
func (r *running) look(still told) (map[place]*stored, *failure) {
	all, failed := r.sessions()
	if failed != nil {
		return nil, failed
	}
	at := map[string][]place{} // by word
	for _, p := range slices.SortedFunc(maps.Keys(all), comparePlaces) {
		seen, done := map[string]bool{}, false
		for _, word := range slices.Backward(all[p].words) {
			done = done || r.words.class[word] == anEnd
			r.done[word] = r.done[word] || done
		}
		for _, word := range all[p].words {
			if seen[word] {
				return nil, &failure{kind: "a word stands twice in one session", what: fmt.Sprintf("%s in %s: %v", word, p, all[p].words)}
			}
			seen[word] = true
			at[word] = append(at[word], p)
		}
	}
	for _, word := range slices.Sorted(maps.Keys(r.due)) {
		if len(at[word]) == 0 && r.done[word] && !still[word] {
			what := map[bool]string{true: "what was said here", false: string(r.words.class[word])}[r.ours[word]]
			return nil, &failure{kind: "a word is in no session", what: fmt.Sprintf("%s (%s), of %v", word, what, keys(r.of[word]))}
		}
	}
	for _, word := range slices.Sorted(maps.Keys(at)) {
		r.due[word] = true
		if failed := r.oneLine(all, word, at[word]); failed != nil {
			return nil, failed
		}
	}
	return all, nil
}

func keys(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }

// top returns the session that a family begins with.
func top(all map[place]*stored, p place) place {
	for range len(all) {
		s := all[p]
		if s == nil || s.parent == "" {
			return p
		}
		next := place{p.project, s.parent}
		if all[next] == nil {
			for _, other := range slices.SortedFunc(maps.Keys(all), comparePlaces) {
				if other.id == s.parent {
					next = other
				}
			}
		}
		p = next
	}
	return p
}

// together checks that what was said one behind the other stands in one session.
func (r *running) together() *failure {
	all, failed := r.sessions()
	if failed != nil {
		return failed
	}
	for _, name := range slices.Sorted(maps.Keys(r.home.files)) {
		if repeats(name) || r.short[name] {
			continue
		}
		for _, line := range r.home.linesOf(name) {
			one := func(s *stored) bool {
				return !slices.ContainsFunc(line, func(word string) bool { return !s.has(word) })
			}
			if !slices.ContainsFunc(slices.Collect(maps.Values(all)), one) {
				return &failure{kind: "a line is in no session as a whole", what: fmt.Sprintf("%v of %s", line, name)}
			}
		}
	}
	return nil
}

// linesOf returns what stands one behind the other in a file: of Codex, what it goes
// on from stands before it.
func (h *home) linesOf(name string) (said [][]string) {
	content := h.files[name].content
	if !strings.HasSuffix(name, ".jsonl") {
		return nil
	}
	if toolOf(name) == foreign.Claude {
		all := records(content)
		for at := range all {
			if line := h.words.chain(all, at); len(line) > 0 {
				said = append(said, line)
			}
		}
		return said
	}
	first := parseRow(strings.Join(lines(content + "\n")[:1], ""))
	base := object(object(first["payload"])["history_base"])
	for other, f := range h.files {
		offset := 0
		if _, err := fmt.Sscan(fmt.Sprint(base["end_byte_offset"]), &offset); err == nil && fileID(other) == text(base["thread_id"]) {
			content = f.content[:offset] + content
		}
	}
	if base == nil || h.baseless(name) {
		return nil
	}
	var line []string
	for word, done := range h.words.readFile(foreign.Codex, content) {
		if done {
			line = append(line, word)
		}
	}
	return [][]string{line}
}

// oneLine checks that a word stands in one place: sessions of one family share it
// with all that stands before it. It may stand in as many families as there are
// sessions of the tools whose files had it. A thread that lost what it goes on from is
// a conversation of its own, which repeats what it was before.
func (r *running) oneLine(all map[place]*stored, word string, at []place) *failure {
	for id := range r.of[word] {
		if r.torn[id] {
			return nil
		}
	}
	families := map[place][]place{}
	for _, p := range at {
		families[top(all, p)] = append(families[top(all, p)], p)
	}
	if len(families) > max(1, len(r.of[word])) {
		return &failure{kind: "a word stands in sessions that are not related", what: fmt.Sprintf("%s in %v, of %v", word, at, keys(r.of[word]))}
	}
	for _, family := range families {
		for _, p := range family[1:] {
			a, b := r.prompts(all[family[0]].words, word), r.prompts(all[p].words, word) // answers of one turn may stand in another order
			if !slices.Equal(a, b) {
				return &failure{kind: "a word stands in two places of a family", what: fmt.Sprintf("%s in %s %v and %s %v", word, family[0], a, p, b)}
			}
		}
	}
	return nil
}

// prompts returns the words of prompts before a word.
func (r *running) prompts(said []string, word string) (all []string) {
	for _, w := range said[:slices.Index(said, word)] {
		if r.words.class[w] == aPrompt {
			all = append(all, w)
		}
	}
	return all
}

// left checks that what left a session is in one that the reports name, and that no
// fork was made of prompts alone. A prompt that got no answer in this session may leave
// it without a fork, also where an earlier state of its file or another session of the
// tool has an answer: there it is in a session, as look checks.
func (r *running) left(before, now map[place]*stored, reports []*foreign.Report) *failure {
	named := map[string]bool{} // words of the sessions that the reports name
	var names []string
	for _, report := range reports {
		for _, s := range report.Sessions {
			p := place{report.Project, s.ID}
			for other := range now {
				if now[p] == nil && other.id == s.ID {
					p = other
				}
			}
			names = append(names, p.String()+" "+string(s.Kind)+" "+string(s.Action))
			if now[p] == nil {
				return &failure{kind: "a report names a session that is not there", what: p.String()}
			}
			for _, word := range now[p].words {
				named[word] = true
			}
			if f := r.onlyPrompts(now, p, s, report); f != nil {
				return f
			}
		}
	}
	for _, p := range slices.SortedFunc(maps.Keys(before), comparePlaces) {
		for _, word := range before[p].words {
			if (now[p] == nil || !now[p].has(word)) && !named[word] && r.answered(before[p], word) {
				return &failure{kind: "no report names where a word went", what: fmt.Sprintf("%s left %s; named are %s", word, p, strings.Join(names, ", "))}
			}
		}
	}
	return nil
}

// answered reports whether something was done in a word of a session: there, or in the
// tool's files of that session as they are now.
func (r *running) answered(s *stored, word string) bool {
	if slices.ContainsFunc(s.words[slices.Index(s.words, word):], func(w string) bool { return r.words.class[w] == anEnd }) {
		return true
	}
	done, own := r.of[word][s.of]
	return done || !own && r.done[word]
}

// onlyPrompts tells of a branch that was made of prompts without an answer: of what is
// not in the tool's conversation. What two files of one session hold is a fork anyway.
func (r *running) onlyPrompts(now map[place]*stored, p place, s foreign.Imported, report *foreign.Report) *failure {
	own := now[p]
	parent := now[place{p.project, own.parent}]
	for _, other := range report.Sessions { // it stands for the parent, if it is not of another session of the report
		if at := now[place{p.project, other.ID}]; other.Kind == foreign.Diverged && at != nil && at.parent == own.parent {
			parent = at
		}
	}
	if s.Kind != foreign.Branch || s.Action != foreign.Created || parent == nil || r.home.copied {
		return nil
	}
	n := 0
	for _, word := range own.words {
		if !parent.has(word) {
			if n++; r.done[word] {
				return nil
			}
		}
	}
	if n == 0 {
		return nil
	}
	return &failure{kind: "a fork was made of prompts without an answer", what: fmt.Sprintf("%s %v", p, own.words)}
}
