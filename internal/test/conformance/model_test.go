package conformance

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// model is the directory of one session in memory, as the reference keeps it
// and, with rules in force, as this library does.
type model struct {
	f         *fired
	id        string
	files     files // nil: the directory is not there
	dirs      []string
	recovered bool // a read took the backup in the place of a damaged file
	damaged   bool // a read found both damaged
}

func newModel(f *fired, id string, with files) *model {
	return &model{f: f, id: id, files: maps.Clone(with)}
}

// render writes a value that the model holds. It never fails: what comes in
// was read from JSON.
func render(raw string, s pyjson.Style) string {
	out, err := pyjson.Append(nil, []byte(raw), s)
	if err != nil {
		return "not JSON: " + err.Error()
	}
	return string(out)
}

// finite reports whether a value has no NaN, infinity or overflow.
func finite(raw string) bool {
	_, err := pyjson.Append(nil, []byte(raw), pyjson.Style{Finite: true})
	var e *pyjson.Error
	return !errors.As(err, &e) || e.Reason != pyjson.NotFinite
}

// deep reports whether a value is nested deeper than the newer tools can read.
func deep(raw string) bool {
	_, err := pyjson.Append(nil, []byte(raw), pyjson.Style{MaxDepth: 500})
	var e *pyjson.Error
	return errors.As(err, &e) && e.Reason == pyjson.TooDeep
}

// paired returns a value with U+FFFD for every lone surrogate.
func paired(raw string) string { return render(raw, pyjson.Style{Replace: true}) }

// hasLone reports whether a value has lone surrogates.
func hasLone(raw string) bool { return paired(raw) != render(raw, pyjson.Style{}) }

func kindOf(raw string) pyjson.Kind { return pyjson.KindOf(pyjson.Trim([]byte(raw))) }

// rows returns the lines that messages, a JSON list, become.
func (m *model) rows(messages string) (rows []string, failed string) {
	for _, raw := range elements(messages) {
		if pyjson.KindOf(raw) != pyjson.Object {
			return nil, refused
		}
		line, err := pyjson.AppendMessage(nil, raw, pyjson.Style{})
		if err != nil {
			return nil, refused
		}
		row := string(line)
		role, ok := pyjson.Lookup(line, "role")
		if !finite(row) && m.f.by(notFinite) || deep(row) && m.f.by(tooDeep) {
			return nil, refused
		}
		if (!ok || pyjson.KindOf(role) != pyjson.String || string(role) == `""`) && m.f.by(roleRequired) {
			return nil, refused
		}
		if ok && (pyjson.KeyIs(role, "system") || pyjson.KeyIs(role, "developer")) {
			continue
		}
		if hasLone(row) && m.f.by(surrogateReplaced) {
			row = paired(row)
		}
		rows = append(rows, row)
	}
	return rows, succeeded
}

// save is the store's save of messages and metadata, both JSON.
func (m *model) save(messages, metadata string) (failed string) {
	before := m.f.count()
	rows, failed := m.rows(messages)
	if failed == succeeded {
		metadata, failed = m.incoming(metadata)
	}
	switch {
	case m.files != nil:
	case failed == succeeded, m.f == nil, m.f.count() == before && !m.f.by(refusedFirst):
		m.files = files{}
	}
	if failed != succeeded {
		return failed
	}
	return m.put(rows, metadata)
}

// put writes what save has found to be good.
func (m *model) put(rows []string, metadata string) (failed string) {
	if m.f != nil && m.isWindow(rows) && m.f.by(windowRefused) {
		return refused
	}
	if failed := m.putRows(rows); failed != succeeded {
		return failed
	}
	return m.saveMetadata(metadata)
}

// isWindow reports whether the transcript on disk ends with rows with which the new
// one begins, not with its own first row among them, and after a row of a person.
func (m *model) isWindow(rows []string) bool {
	if !m.has(transcriptFile) || !m.sound(transcriptFile) || m.emptied() {
		return false
	}
	old, failed := m.parse(transcriptFile)
	if failed != none {
		return false
	}
	for k := len(old) - 1; k > 0; k-- {
		person := slices.ContainsFunc(old[:k], func(row string) bool {
			m, err := sessionstore.ParseMessage([]byte(row))
			return err == nil && slice.IsRealUser(m)
		})
		if len(rows) >= len(old)-k && slices.Equal(old[k:], rows[:len(old)-k]) && !slices.Contains(old[k:], old[0]) && person {
			return true
		}
	}
	return false
}

// putRows writes the transcript. We only add to one that it extends.
func (m *model) putRows(rows []string) (failed string) {
	content := lines(rows)
	if old, ok := m.extended(rows); m.f != nil && ok {
		if len(old) == len(rows) && m.f.by(transcriptKept) {
			return succeeded
		}
		added := strings.TrimSuffix(m.files[transcriptFile], "\n")
		if added != "" {
			added += "\n"
		}
		added += lines(rows[len(old):])
		if added != content && m.f.by(transcriptExtended) {
			content = added
		}
	}
	return m.write(transcriptFile, content, hasLone("["+strings.Join(rows, ",")+"]"))
}

// extended returns the rows on disk, byte by byte, when rows begins with them.
func (m *model) extended(rows []string) (old []string, ok bool) {
	if !m.has(transcriptFile) || !m.sound(transcriptFile) || m.emptied() {
		return nil, false
	}
	for line := range strings.Lines(m.files[transcriptFile]) {
		line = strings.TrimSuffix(line, "\n")
		if len(pyjson.TrimSpace([]byte(line))) == 0 {
			continue
		}
		if len(old) == len(rows) || line != rows[len(old)] {
			return nil, false
		}
		old = append(old, line)
	}
	return old, true
}

func lines(rows []string) string {
	if len(rows) == 0 {
		return ""
	}
	return strings.Join(rows, "\n") + "\n"
}
