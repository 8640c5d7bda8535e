package conformance

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
)

// forkModel is a fork as it goes on.
type forkModel struct {
	forkCase
	f       *fired
	rows    []string // of the parent, as they stand there
	plain   []string // the same as the model reads them
	md      object
	damaged bool
}

// predict is what a fork does, or the reference.
func (c forkCase) predict(t *testing.T, f *fired) (o forkOutcome) {
	t.Helper()
	m := &forkModel{forkCase: c, f: f}
	o.Child = maps.Clone(c.Existing)
	o.Failed = m.read()
	if c.previewed() {
		o.PreviewFailed, _, _ = strings.Cut(o.Failed, ". This")
		if o.Failed == succeeded {
			o.Preview, o.PreviewFailed = m.preview()
		}
	}
	if o.Failed == succeeded {
		m.fork(t, &o)
	}
	return o
}

// read reads the parent.
func (m *forkModel) read() (failed string) {
	name, parent := transcriptFile, newModel(&fired{}, m.Name, m.Parent)
	switch {
	case !parent.has(name):
		if !parent.has(transcriptBackup) || !m.f.by(forkRecovers) {
			return "No transcript.jsonl in {DIR}/" + m.Name + ". This doesn't appear to be a valid session directory."
		}
		name = transcriptBackup
	case !parent.sound(name) && parent.sound(transcriptBackup) && m.f.by(forkRecovers):
		name, m.damaged = transcriptBackup, true
	}
	if !m.readRows(m.Parent[name]) {
		return raised
	}
	raw, ok := m.Parent[metadataFile]
	switch {
	case !ok:
	case isValue(raw) && kindOf(raw) == pyjson.Object:
		m.md = parseObject(raw)
	case !m.f.by(forkRecovers):
		return raised
	default:
		m.damaged = true
	}
	return succeeded
}

// readRows reads a transcript; not when the reference raises.
func (m *forkModel) readRows(data string) bool {
	if !utf8.ValidString(data) && m.f == nil {
		return false
	}
	for row, flaw := range rowsIn(m.f, data) {
		switch {
		case flaw != none:
			if m.f == nil && flaw == worse {
				return false
			}
			m.damaged = m.f.by(forkRecovers)
		case kindOf(row) != pyjson.Object:
			if !m.f.by(forkRecovers) {
				return false
			}
		default:
			m.plain = append(m.plain, render(row, pyjson.Style{ASCII: true}))
			m.rows = append(m.rows, row)
			for _, line := range strings.Split(data, "\n") { // which keeps its bytes
				if strings.TrimSpace(line) == row {
					m.rows[len(m.rows)-1] = line
				}
			}
		}
	}
	return true
}

// turn is the turn to fork at, of so many.
func (m *forkModel) turn(count int) int {
	if m.Turn == nil {
		return count
	}
	return *m.Turn
}

func (m *forkModel) parentID() string {
	if m.md.index("session_id") < 0 {
		return text(m.Name)
	}
	return m.md.get("session_id")
}

func (m *forkModel) fork(t *testing.T, o *forkOutcome) {
	at := starts(view{f: m.f}.all(m.plain))
	turn := m.turn(len(at))
	switch {
	case len(at) == 0 && m.damaged && m.f.by(forkRecovers):
		o.Failed = unreadable
		return
	case len(at) == 0:
		o.Failed = "Cannot fork: session has no user messages"
		return
	case turn < 1 || turn > len(at):
		o.Failed = fmt.Sprintf("Turn %d out of range. Valid range: 1-%d", turn, len(at))
		return
	}
	if slices.ContainsFunc(m.plain, odd) && m.Error.forking() == raised && !m.f.by(oddCalls) {
		o.Failed = raised
		return
	}
	s := cut(m.plain, turn, m.Mode, m.f)
	if o.Failed = s.Failed; s.Failed != "" {
		return
	}
	if o.Child != nil && m.f.by(forkNew) {
		o.Failed = existsAlready
		return
	}
	if o.Child == nil {
		o.Child = files{}
	}
	if o.Child[transcriptFile], o.Failed = m.transcript(s.Rows); o.Failed != "" {
		return
	}
	o.Turn, o.Messages, o.Damaged = turn, len(s.Rows), m.damaged
	md := m.metadata(turn, len(starts(view{f: m.f}.all(s.Rows))))
	switch {
	case strings.Contains(md, "NaN") && m.f.by(notFinite), strings.Contains(md, "Infinity") && m.f.by(notFinite):
		*o = forkOutcome{Failed: refused, Preview: o.Preview, PreviewFailed: o.PreviewFailed}
		return
	case hasLone(md) && m.f == nil: // the file is open already
		*o = forkOutcome{Failed: raised, Child: o.Child, Preview: o.Preview, PreviewFailed: o.PreviewFailed}
		md = ""
	case hasLone(md) && m.f.by(surrogateReplaced):
		md = loneSurrogate.ReplaceAllString(md, "\ufffd")
	}
	if o.Child[metadataFile] = md; o.Failed != "" {
		return
	}
	if m.Events {
		end := append(at, len(m.plain))[turn]
		o.Child[eventsFile], o.Events = m.events(t, m.plain[at[turn-1]:end])
	}
}

// transcript is the file that the rows become.
func (m *forkModel) transcript(rows []string) (file, failed string) {
	left := map[string][]string{}
	for i, row := range m.plain {
		left[row] = append(left[row], m.rows[i])
	}
	for _, row := range rows {
		line := render(row, pyjson.Style{})
		if strings.Contains(line, `\ud`) && !m.f.by(surrogateKept) {
			return file, raised
		}
		if was := left[row]; len(was) > 0 {
			left[row] = was[1:]
			if inside := strings.Contains(strings.TrimSpace(was[0]), "\r"); was[0] != line && !inside && m.f.by(rowsKept) {
				line = was[0]
			}
		}
		file += line + "\n"
	}
	return file, succeeded
}

func (m *forkModel) metadata(turn, turns int) string {
	now := text(anyTime)
	o := object{
		{"session_id", text(m.NewID)},
		{"parent_id", m.parentID()},
		{"forked_from_turn", fmt.Sprint(turn)},
		{"forked_at", now},
		{"created", now},
		{"turn_count", fmt.Sprint(turns)},
		{"bundle", m.md.get("bundle")},
		{"model", m.md.get("model")},
	}
	if m.md.index("working_dir") >= 0 && m.f.by(forkWorkingDir) {
		o = o.with("working_dir", m.md.get("working_dir"))
	}
	plain, redacted := render(o.String(), pyjson.Style{Indent: 2}), render(o.String(), pyjson.Style{Indent: 2, Redact: true})
	if plain != redacted && m.f.by(forkRedacts) {
		return redacted
	}
	return plain
}

// lastTime is the text of the last time of rows; odd is one that the
// reference takes though it is no text.
func lastTime(f *fired, rows []string) (at string, odd bool) {
	reference, ours := "", ""
	for i := len(rows) - 1; i >= 0; i-- {
		o := parseObject(rows[i])
		for n, raw := range []string{o.get("timestamp"), o.get("ts"), parseObject(o.get("metadata")).get("timestamp")} {
			if reference == "" && n < 2 && truthy(raw) {
				reference = raw
			}
			if ours == "" && stringOf(raw) != "" {
				ours = raw
			}
		}
	}
	if reference != ours && f.by(forkTimes) {
		return stringOf(ours), false
	}
	return stringOf(reference), reference != "" && kindOf(reference) != pyjson.String
}

// events is the log of the fork, whose last turn has these rows.
func (m *forkModel) events(t *testing.T, rows []string) (file string, count int) {
	log, ok := m.Parent[eventsFile]
	at, odd := lastTime(m.f, rows)
	if !ok || odd || at == "" {
		return "", 0
	}
	if _, _, err := pytime.Parse(at); err != nil {
		return "", 0
	}
	if !utf8.ValidString(log) && m.f == nil {
		return "", 0
	}
	c := sliceCase{Events: &content{Text: &log}, Cutoff: at, NewID: m.NewID, Parent: stringOf(m.parentID())}
	f := m.f
	if f != nil {
		f = &fired{}
	}
	o := c.model(t, f)
	before := c.model(t, nil)
	if before.Failed != "" {
		before.Output, before.Count = "", 0
	}
	if m.f == nil || o.Output == before.Output {
		return before.Output, before.Count
	}
	for _, r := range f.rules {
		m.f.by(r)
	}
	return o.Output, o.Count
}

// preview is the preview of the fork.
func (m *forkModel) preview() (shown, failed string) {
	rows := view{f: m.f}.all(m.plain)
	at := starts(rows)
	turn := m.turn(len(at))
	if len(at) == 0 && m.damaged && m.f.by(forkRecovers) {
		return "", unreadable
	}
	if m.f == nil && m.PreviewError.forking() == raised && slices.ContainsFunc(m.plain, oddText) {
		return "", raised
	}
	if turn < 1 || turn > len(at) {
		return "", fmt.Sprintf("Turn %d out of range (1-%d)", turn, len(at))
	}
	end := append(at, len(rows))[turn]
	if m.PreviewError.forking() == raised && slices.ContainsFunc(m.plain, oddText) {
		m.f.by(infoText)
	}
	parent := m.parentID()
	if ours := goText(parent, "null"); ours != parent && m.f.by(infoText) {
		parent = ours
	}
	lost := len(orphans(rows[:end]))
	shown = object{
		{"parent_id", parent},
		{"turn", fmt.Sprint(turn)},
		{"max_turns", fmt.Sprint(len(at))},
		{"message_count", fmt.Sprint(end)},
		{"has_orphaned_tools", fmt.Sprint(lost > 0)},
		{"orphaned_tool_count", fmt.Sprint(lost)},
		{"last_user_message", lastShown(m.f, rows[:end], "user")},
		{"last_assistant_message", lastShown(m.f, rows[:end], "assistant")},
	}.String()
	return render(shown, pyjson.Style{ASCII: true}), ""
}

// oddText reports whether a message has a block of text that is no text, or
// calls that are odd: Python's exceptions are about both.
func oddText(raw string) bool {
	return odd(raw) || slices.ContainsFunc(seen{object: parseObject(raw)}.blocks("text"), func(o object) bool {
		return kindOf(o.get("text")) != pyjson.String
	})
}

var loneSurrogate = regexp.MustCompile(`\\ud[89a-f][0-9a-f]{2}`)

// lastShown is the beginning of the last text of a role.
func lastShown(f *fired, rows []seen, role string) string {
	for i := len(rows) - 1; i >= 0; i-- {
		if rows[i].role != role {
			continue
		}
		content := rows[i].get("content")
		if kindOf(content) == pyjson.String && hasLone(content) {
			if f.by(infoText) {
				content = goText(content, "")
			}
			return content
		}
		if shown := []rune(rows[i].shown()); len(shown) > 0 {
			return render(text(string(shown[:min(len(shown), 100)])), pyjson.Style{ASCII: true})
		}
	}
	return text("")
}

// shown is the text of a message in a preview: its first block of text, or
// what Python's str makes of a content without one.
func (s seen) shown() string {
	content := s.get("content")
	switch kindOf(content) {
	case pyjson.String:
		return stringOf(content)
	case pyjson.Array:
		if blocks := s.blocks("text"); len(blocks) > 0 {
			return stringOf(blocks[0].get("text"))
		}
		return pythonShown(content)
	}
	if !truthy(content) {
		return ""
	}
	return pythonShown(content)
}
