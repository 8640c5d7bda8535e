package conformance

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// malformed is what the strict reader says of a line, as far as the words are
// the reference's own.
const malformed = "Malformed JSON at line "

var malformedAt = regexp.MustCompile(`^` + malformed + `\d+`)

// line is reading for what reads a transcript strictly.
func (f *failure) line() string {
	if f != nil && malformedAt.MatchString(f.Message) {
		return malformedAt.FindString(f.Message)
	}
	return f.reading()
}

// lineOutcome is the same of our errors. The reference decodes a file before
// it looks at lines.
func lineOutcome(err error) string {
	corrupt, bad := (*sessionstore.CorruptError)(nil), (*pyjson.Error)(nil)
	decoded := errors.As(err, &bad) && bad.Reason != pyjson.BadUTF8
	if errors.As(err, &corrupt) && corrupt.Line > 0 && decoded {
		return malformed + strconv.Itoa(corrupt.Line)
	}
	return outcome(err)
}

// rewindByTime is the rule about the events of what is rewound.
const rewindByTime rule = "rewind-by-time"

func storedRules() []rule { return []rule{infoText, rewindByTime} }

// commandCase is a call of the reference's command. Those that change a
// session are run.
type commandCase struct {
	Tree   map[string]map[string]files
	Argv   []string
	Exit   int `json:"exit_code"`
	Stdout string
	After  files `json:"files_after"`
}

type commandOutcome struct {
	Report, Failed string
	Files          files
}

func (c commandCase) run(t *testing.T) verdict {
	if c.Argv[0] != "repair" && c.Argv[0] != "rewind" {
		return verdict{notRun: true} // what they ask is asked by other vectors
	}
	reference := commandOutcome{Files: c.After}
	var failed struct{ Error *string }
	require.NoError(t, json.Unmarshal([]byte(c.Stdout), &failed))
	switch {
	case failed.Error == nil:
		reference.Report = render(c.Stdout, pyjson.Style{ASCII: true})
	case malformedAt.MatchString(*failed.Error):
		reference.Failed = malformedAt.FindString(*failed.Error)
	default:
		reference.Failed = raised
	}
	return judge(reference, c.ours(t), func(f *fired) commandOutcome { return c.predict(f, reference) })
}

var keptAt = regexp.MustCompile(`\d{14}(-\d+)?`)

func (c commandCase) ours(t *testing.T) (o commandOutcome) {
	t.Helper()
	p := newPlace(t)
	for project, sessions := range c.Tree {
		for id, f := range sessions {
			p.put(t, filepath.Join(project, "sessions", id), f)
		}
	}
	projects, err := sessionstore.OpenProjects(p.dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, projects.Close()) }()
	dir, err := projects.Resolve(t.Context(), c.Argv[1], "")
	require.NoError(t, err)
	st, err := sessionstore.Open(filepath.Dir(dir), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	var report any
	if c.Argv[0] == "repair" {
		report, err = slice.RepairSession(t.Context(), st, filepath.Base(dir))
	} else {
		report, err = slice.RewindSession(t.Context(), st, filepath.Base(dir))
	}
	if err != nil {
		o.Failed = lineOutcome(err)
	} else {
		raw, err := json.Marshal(report)
		require.NoError(t, err)
		o.Report = keptAt.ReplaceAllString(strings.ReplaceAll(ascii(t, raw), p.dir, "{DIR}"), "<YYYYMMDDHHMMSS>")
	}
	o.Files = c.found(t, p)
	return o
}

// found are the files below the place, without what the library keeps beside
// the sessions and the copies that every save leaves.
func (c commandCase) found(t *testing.T, p place) files {
	t.Helper()
	all := files{}
	for name, data := range p.get(t, ".") {
		if base := filepath.Base(name); strings.HasPrefix(base, ".") || base == transcriptBackup {
			continue
		}
		all[keptAt.ReplaceAllString(filepath.ToSlash(name), "<YYYYMMDDHHMMSS>")] = data
	}
	require.NoError(t, os.RemoveAll(filepath.Join(p.dir, sessionstoreDir)))
	return all
}

const sessionstoreDir = ".sessionstore"

// predict is what a command does, or the reference.
func (c commandCase) predict(f *fired, reference commandOutcome) commandOutcome {
	o := reference
	o.Files = files{}
	for name, data := range reference.Files {
		o.Files[name] = data
	}
	if c.Argv[0] == "rewind" && reference.Report != "" {
		for name, data := range reference.Files {
			kept, ok := strings.CutSuffix(name, ".bak-pre-rewind-<YYYYMMDDHHMMSS>")
			if ok && strings.HasSuffix(kept, eventsFile) && f.by(rewindByTime) { // no vector has times to cut it at
				delete(o.Files, name)
				o.Files[kept] = data
			}
		}
	}
	if reference.Failed == raised && f.by(oddCalls) {
		o.Failed = succeeded
		o.repaired()
	}
	return o
}

// repaired repairs the call without an id that the reference fails on.
func (o *commandOutcome) repaired() {
	for name, data := range o.Files {
		if filepath.Base(name) != transcriptFile {
			continue
		}
		o.Files[name] = strings.Replace(data, `{"tool": "x"}`, `{"tool": "x", "id": "repaired_1"}`, 1) +
			`{"role": "tool", "tool_call_id": "repaired_1", "name": "x", "content": "{\"error\": \"unknown_error\", \"message\": \"Tool execution was interrupted and no result was captured.\"}"}` + "\n" +
			`{"role": "assistant", "content": [{"type": "text", "text": "The previous tool calls were interrupted. This response was automatically repaired."}]}` + "\n"
	}
	o.Report = `{"status": "repaired", "original_diagnosis": {"status": "broken", "failure_modes": ["missing_tool_results"], "orphaned_tool_ids": [""], "misplaced_tool_ids": [], "incomplete_turns": [], "recommended_action": "repair"}, ` +
		`"verification": {"status": "healthy", "failure_modes": [], "orphaned_tool_ids": [], "misplaced_tool_ids": [], "incomplete_turns": [], "recommended_action": "none"}, ` +
		`"backup_path": "{DIR}/p/sessions/s1/transcript.jsonl.bak-pre-repair-<YYYYMMDDHHMMSS>", "counts": {"original_entries": 2, "repaired_entries": 4}}`
}
