package conformance

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// commandCase is a call of the reference's command, which the tool in
// examples/sessions is called like.
type commandCase struct {
	Tree           map[string]map[string]files
	Argv           []string
	Exit           int `json:"exit_code"`
	Stdout, Stderr string
	After          files `json:"files_after"`
}

// commandOutcome is what became of a call.
type commandOutcome struct {
	Exit   int
	Stdout string // empty when it failed
	Failed string // what the JSON of an error says, as far as the words are the reference's own
	Stderr string // besides the text of the error, which must stand there too
	Files  files
}

func (c commandCase) run(t *testing.T) verdict {
	reference := newCommandOutcome(c.Exit, c.Stdout, c.Stderr, c.After)
	return judge(reference, c.ours(t), func(f *fired) commandOutcome { return c.predict(f, reference) })
}

// ownTexts are how the reference's own errors of this command begin.
var ownTexts = []string{"No session found matching ", "No valid session at path: ", "Ambiguous "}

const usage = 2 // the exit code for wrong arguments, of which the texts are not compared

func newCommandOutcome(exit int, stdout, stderr string, after files) commandOutcome {
	o := commandOutcome{Exit: exit, Stdout: stdout, Stderr: stderr, Files: after}
	if exit == usage {
		o.Stderr = ""
		return o
	}
	var failed struct{ Error *string }
	if json.Unmarshal([]byte(stdout), &failed) != nil || failed.Error == nil {
		return o
	}
	text := *failed.Error
	o.Stdout, o.Stderr = "", strings.TrimPrefix(stderr, text+"\n")
	o.Failed = raised
	if malformedAt.MatchString(text) {
		o.Failed = malformedAt.FindString(text)
	}
	for _, own := range ownTexts {
		if strings.HasPrefix(text, own) {
			o.Failed = text
		}
	}
	return o
}

var keptAt = regexp.MustCompile(`\d{14}(-\d+)?`)

func (c commandCase) ours(t *testing.T) commandOutcome {
	t.Helper()
	p := newPlace(t)
	for project, sessions := range c.Tree {
		for id, f := range sessions {
			p.put(t, filepath.Join(project, "sessions", id), f)
		}
	}
	var args []string
	for _, arg := range c.Argv {
		args = append(args, strings.ReplaceAll(arg, "{DIR}", p.dir))
	}
	program, err := builtTool()
	require.NoError(t, err)
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = &stdout, &stderr, append(os.Environ(), "COLUMNS=", "TZ=UTC")
	if err := cmd.Run(); cmd.ProcessState == nil {
		require.NoError(t, err)
	}
	exit := cmd.ProcessState.ExitCode()
	named := func(text string) string {
		return keptAt.ReplaceAllString(strings.ReplaceAll(text, p.dir, "{DIR}"), "<YYYYMMDDHHMMSS>")
	}
	return newCommandOutcome(exit, named(stdout.String()), named(stderr.String()), c.found(t, p))
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
	o.Files = maps.Clone(reference.Files)
	switch strings.Join(c.Argv[:min(1, len(c.Argv))], "") {
	case "rewind":
		for name, data := range reference.Files {
			kept, ok := strings.CutSuffix(name, ".bak-pre-rewind-<YYYYMMDDHHMMSS>")
			if ok && strings.HasSuffix(kept, eventsFile) && f.by(rewindByTime) { // no vector has times to cut it at
				delete(o.Files, name)
				o.Files[kept] = data
			}
		}
	case "repair":
		if c.oddCall() && f.by(oddCalls) {
			o.repaired()
		}
	case "find":
		if c.unreadable() && f.by(findReports) {
			o.Stderr = "skipped"
		}
	}
	return o
}

// oddCall reports whether the session s1 has the call without an id that the
// reference fails on.
func (c commandCase) oddCall() bool {
	return strings.Contains(c.Tree["p"]["s1"][transcriptFile], `[{"tool": "x"}]`)
}

// unreadable reports whether a session has metadata that cannot be read.
func (c commandCase) unreadable() bool {
	for _, sessions := range c.Tree {
		for _, f := range sessions {
			if md, ok := f["metadata.json"]; ok {
				if _, err := sessionstore.ParseMetadata([]byte(md)); err != nil {
					return true
				}
			}
		}
	}
	return false
}

// repaired repairs the call without an id.
func (o *commandOutcome) repaired() {
	for name, data := range o.Files {
		if filepath.Base(name) != transcriptFile {
			continue
		}
		o.Files[name] = strings.Replace(data, `{"tool": "x"}`, `{"tool": "x", "id": "repaired_1"}`, 1) +
			`{"role": "tool", "tool_call_id": "repaired_1", "name": "x", "content": "{\"error\": \"unknown_error\", \"message\": \"Tool execution was interrupted and no result was captured.\"}"}` + "\n" +
			`{"role": "assistant", "content": [{"type": "text", "text": "The previous tool calls were interrupted. This response was automatically repaired."}]}` + "\n"
	}
	o.Exit, o.Failed = 0, ""
	o.Stdout = render(`{"status": "repaired", "original_diagnosis": {"status": "broken", "failure_modes": ["missing_tool_results"], "orphaned_tool_ids": [""], "misplaced_tool_ids": [], "incomplete_turns": [], "recommended_action": "repair"}, `+
		`"verification": {"status": "healthy", "failure_modes": [], "orphaned_tool_ids": [], "misplaced_tool_ids": [], "incomplete_turns": [], "recommended_action": "none"}, `+
		`"backup_path": "{DIR}/p/sessions/s1/transcript.jsonl.bak-pre-repair-<YYYYMMDDHHMMSS>", "counts": {"original_entries": 2, "repaired_entries": 4}}`,
		pyjson.Style{Indent: 2}) + "\n"
}
