package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// root leads from this package to the top of the repository.
const root = "../../.."

// dirList is a flag that may be repeated and holds a comma-separated list.
type dirList []string

func (d *dirList) String() string { return strings.Join(*d, ",") }

func (d *dirList) Set(s string) error {
	*d = append(*d, strings.Split(s, ",")...)
	return nil
}

var golden = func() *dirList {
	d := new(dirList)
	flag.Var(d, "golden", "`directory` of vectors, repeated or comma-separated (default testdata/golden,testdata/golden-new,testdata/golden-odd)")
	return d
}()

var tool = flag.String("tool", "", "the `program` whose calls are compared with cli.json (default: where -golden is given, it is built)")

// commandCalls is the file of vectors that are calls of the reference's command.
const commandCalls = "cli.json"

// withTool reports whether those are run. The command-line tool is a module of its own, which
// takes longer to build than all the others to run: the tests of examples/sessions run them.
func withTool() bool { return *tool != "" || len(*golden) > 0 }

// A runner runs one case, which is given as JSON.
type runner func(t *testing.T, raw []byte) verdict

// of makes a runner of a method of a decoded case. unread are the members that it does
// not look at, beside those of decode.
func of[C any](run func(c C, t *testing.T) verdict, unread ...string) runner {
	return func(t *testing.T, raw []byte) verdict {
		var c C
		if err := decode(raw, &c, unread); err != nil {
			return verdict{err: err}
		}
		return run(c, t)
	}
}

// decode reads a case, with its token replaced everywhere. It refuses a member that c
// does not have and that is not among unread: what that asks for would not be looked at.
func decode(raw []byte, c any, unread []string) error {
	var token struct {
		Expand struct {
			Token, Unit string
			Times       int
		}
	}
	var all map[string]any
	in := json.NewDecoder(bytes.NewReader(raw))
	in.UseNumber()
	if err := errors.Join(json.Unmarshal(raw, &token), in.Decode(&all)); err != nil {
		return err
	}
	for _, name := range []string{"name", "note", "expand"} {
		delete(all, name)
	}
	without(all, unread)
	rest, err := json.Marshal(all)
	if err != nil {
		return err
	}
	if e := token.Expand; e.Token != "" {
		rest = bytes.ReplaceAll(rest, inJSON(e.Token), bytes.Repeat(inJSON(e.Unit), e.Times))
	}
	in = json.NewDecoder(bytes.NewReader(rest))
	in.DisallowUnknownFields()
	if err := in.Decode(c); err != nil {
		return fmt.Errorf("this test does not know such a case, and did not run it: %w", err)
	}
	return nil
}

// without removes the members of these names from a value and all that it holds.
func without(v any, names []string) {
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			without(element, names)
		}
	case map[string]any:
		for name, member := range v {
			if slices.Contains(names, name) {
				delete(v, name)
			} else {
				without(member, names)
			}
		}
	}
}

// inJSON returns text as a part of a text in JSON.
func inJSON(text string) []byte {
	raw, err := json.Marshal(text)
	if err != nil {
		return []byte(err.Error())
	}
	return raw[1 : len(raw)-1]
}

// runners are the files of vectors that are covered.
func runners() map[string]runner {
	return map[string]runner{
		"cleanup.json":                 of(cleanupCase.run),
		"config_md.json":               of(configCase.run),
		"extract_session_mode.json":    of(bundleCase.run),
		"incremental_save.json":        of(incrementalCase.run),
		"is_top_level.json":            of(topLevelCase.run),
		"list_find.json":               of(listCase.run),
		"load_recovery.json":           of(loadCase.run),
		"project_slug.json":            of(slugCase.run),
		"read_jsonl.json":              of(linesCase.run),
		"redact.json":                  of(redactCase.run),
		"resolve_session.json":         of(resolveCase.run, "match_order_unspecified"),
		"save.json":                    of(saveCase.run),
		"serialise_message.json":       of(messageCase.run),
		"session_id_validation.json":   of(idCase.run),
		"sub_session_id.json":          of(subIDCase.run, "pattern"),
		"update_metadata.json":         of(updateCase.run),
		"strict_load.json":             of(strictCase.run, "severity"),
		"set_name.json":                of(nameCase.run, "auto_name_allowed_before"),
		"metadata_patch.json":          of(patchCase.run),
		"checkpoint_merge.json":        of(mergeCase.run),
		"append_crash.json":            of(crashCase.run, "severity"),
		"history_save.json":            of(historyCase.run, "backup_inode_kept", "transcript_inode_kept"),
		"store_sequences.json":         of(sequenceCase.run, "severity"),
		"shared_paths.json":            of(pathsCase.run),
		"canonical_workspace.json":     of(workspaceCase.run),
		"owner_parse.json":             of(ownerCase.run),
		"find_sessions.json":           of(findCase.run),
		"fence_parse.json":             of(fenceCase.run),
		"atomic_json.json":             of(stateCase.run),
		"parse_timestamp.json":         of(timeCase.run),
		"events_line.json":             of(lineCase.run),
		"events_slice.json":            of(sliceCase.run, "count_events_error"),
		"ci_events.json":               of(newerEventsCase.run, "source", "severity"),
		"associate_events.json":        of(associateCase.run),
		"restore_cost.json":            costRunner(),
		"fork_cost_boundary.json":      boundaryRunner(),
		"fork_newest.json":             of(newestForkCase.run),
		"visibility.json":              visibilityRunner(),
		"real_user_newest.json":        realUserRunner(),
		"turn_boundaries.json":         of(turnsCase.run),
		"is_real_user.json":            of(realCase.run),
		"orphaned_tool_calls.json":     of(orphansCase.run),
		"slice_to_turn.json":           of(cutCase.run),
		"turn_summary.json":            of(summaryCase.run),
		"fork_in_memory.json":          of(memoryForkCase.run, "parent_id", "session_dir_is_none", "session_id", "events_count"),
		"diagnose.json":                of(diagnoseCase.run),
		"repair.json":                  of(repairCase.run),
		"rewind.json":                  of(rewindCase.run),
		"fork.json":                    of(forkCase.run, "session_id", "parent_id_json", "messages_is_none"),
		"lineage.json":                 of(lineageCase.run),
		"last_timestamp_for_turn.json": of(lastTimeCase.run),
		"session_info.json":            of(infoCase.run),
		commandCalls:                   of(commandCase.run),
	}
}

// notCovered are the files of vectors that are of nothing which the library does.
var notCovered = map[string]string{
	"checkpoint_parse.json": "checkpoint.json, which the tools write no more",
	"naming_hook.json":      "a hook that asks a model for a name",
}

func TestGolden(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the vectors hold names that only Linux keeps apart")
	}
	t.Setenv("AMPLIFIER_HOME", t.TempDir())
	t.Setenv("AMPLIFIER_SESSION_STATE_HOME", t.TempDir())
	rules := readRules(t)
	dirs, shipped := *golden, false
	if len(dirs) == 0 {
		dirs, shipped = dirList{root + "/testdata/golden", root + "/testdata/golden-new", root + "/testdata/golden-odd"}, true
	}
	all := tally{file: "in all", under: map[rule]int{}}
	for _, dir := range dirs {
		for _, path := range vectorFiles(t, dir) {
			name := filepath.Base(path)
			run, ok := runners()[name]
			if !ok {
				fmt.Printf("golden %s: not covered\n", name)
				require.NotEmpty(t, notCovered[name], "%s: this test does not know such a file, and did not run it", path)
				continue
			}
			if name == commandCalls && !withTool() {
				fmt.Printf("golden %s: run by the tests of examples/sessions\n", name)
				continue
			}
			sum := runFile(t, path, run, rules)
			fmt.Print(sum)
			all.add(sum)
		}
	}
	fmt.Println(all.line())
	if shipped {
		requireRulesUsed(t, rules, all.under)
	}
}

// vectorFiles returns the files in dir that hold lists of cases. A relative
// dir may also start at the top of the repository.
func vectorFiles(t *testing.T, dir string) (paths []string) {
	t.Helper()
	if _, err := os.Stat(dir); err != nil && !filepath.IsAbs(dir) {
		dir = filepath.Join(root, dir)
	}
	all, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	for _, path := range all {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		if filepath.Base(path) != rulesFile && bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
			paths = append(paths, path)
		}
	}
	require.NotEmpty(t, paths, "no vectors in %s", dir)
	return paths
}

// tally counts what became of the cases of a file.
type tally struct {
	file                    string
	total, good, deviations int
	under                   map[rule]int
}

func (s *tally) add(other tally) {
	s.total += other.total
	s.good += other.good
	s.deviations += other.deviations
	for id, n := range other.under {
		s.under[id] += n
	}
}

func (s tally) line() string {
	text := fmt.Sprintf("golden %s: %d of %d, %d deviations", s.file, s.good, s.total, s.deviations)
	if s.good < s.total {
		text += fmt.Sprintf(", %d FAILED", s.total-s.good)
	}
	return text
}

func (s tally) String() string {
	text := s.line() + "\n"
	for _, id := range slices.Sorted(maps.Keys(s.under)) {
		text += fmt.Sprintf("    %s: %d\n", id, s.under[id])
	}
	return text
}

// runFile runs the cases of the file path and says how they did.
func runFile(t *testing.T, path string, run runner, rules ruleSet) tally {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var cases []json.RawMessage
	require.NoError(t, json.Unmarshal(data, &cases))
	name := filepath.Base(path)
	verdicts := make([]verdict, len(cases))
	t.Run(name, func(t *testing.T) {
		for i, raw := range cases {
			var c struct{ Name string }
			require.NoError(t, json.Unmarshal(raw, &c))
			verdicts[i].err = errNotRun
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				v := run(t, raw)
				v.err = rules.allow(v, name)
				verdicts[i] = v
				require.NoError(t, v.err)
			})
		}
	})
	return count(name, verdicts)
}

func count(file string, verdicts []verdict) tally {
	sum := tally{file: file, total: len(verdicts), under: map[rule]int{}}
	for _, v := range verdicts {
		if v.err != nil {
			continue
		}
		sum.good++
		if len(v.rules) > 0 {
			sum.deviations++
		}
		for _, id := range v.rules {
			sum.under[id]++
		}
	}
	return sum
}
