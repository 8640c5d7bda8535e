package sessioncost

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/capture"
	"github.com/amplifier-go/sessionstorage/internal/store/decimal"
)

// Events are the prompts and costs of a log of events, in their order.
type Events struct {
	steps    []step
	codes    []capture.Code // the faults of rows, each once
	foreign  bool           // there is a response of another session with a cost
	unstable bool           // the file changed while it was read
}

// step is a prompt that was submitted, or a response of a model.
type step struct {
	line   int
	scoped bool // the row names the session
	submit bool
	text   bool     // of a prompt: it is a text
	sum    [32]byte // of that text
	cost   cost     // of a response
}

// cost is the cost in a response.
type cost struct {
	told   bool // there is a member cost_usd
	valid  bool // it is an amount
	amount decimal.Number
}

// ReadEvents reads the log of the session owner. It holds one row in memory, and
// some 100 bytes for each prompt and response.
func ReadEvents(ctx context.Context, r io.Reader, owner string) (*Events, error) {
	all := &Events{}
	look := func(row []byte) { all.foreign = all.foreign || isForeign(row, owner) }
	found, err := capture.Read(ctx, r, owner, look, all.note)
	if err != nil {
		return nil, err
	}
	for _, d := range found {
		if !slices.Contains(all.codes, d.Code) {
			all.codes = append(all.codes, d.Code)
		}
	}
	return all, nil
}

func (all *Events) note(e capture.Event) {
	s := step{line: e.Line, scoped: e.Session != ""}
	switch e.Name {
	case capture.PromptSubmit:
		s.submit = true
		r := e.Ref()
		s.text, s.sum = r.Submits, r.Prompt
	case capture.LLMResponse:
		s.cost = costOf(e.Data)
	default:
		return
	}
	all.steps = append(all.steps, s)
}

// costOf returns the cost in the data of a response.
func costOf(data []byte) (c cost) {
	raw := costMember(data)
	if raw == nil {
		return c
	}
	c.told = true
	c.amount, c.valid = decimal.FromJSON(raw)
	return c
}

// costMember returns the member usage.cost_usd of data, nil where there is none.
func costMember(data []byte) []byte {
	if pyjson.KindOf(data) != pyjson.Object {
		return nil
	}
	usage, _ := pyjson.Lookup(data, "usage")
	if pyjson.KindOf(usage) != pyjson.Object {
		return nil
	}
	raw, _ := pyjson.Lookup(usage, "cost_usd")
	return raw
}

// isForeign reports whether a row is a response of another session than owner, with a
// cost of any kind. It reads more than [capture.Parse] does: also rows with NaN, and with
// different ids, of which the id in the data counts.
func isForeign(row []byte, owner string) bool {
	if !pyjson.MayHold(row, "cost_usd") || pyjson.Check(row, pyjson.Tolerant) != nil {
		return false
	}
	if pyjson.KindOf(row) != pyjson.Object {
		return false
	}
	found := pyjson.Values(pyjson.Trim(row), "event", "data", "session_id")
	if pyjson.KindOf(found[0]) != pyjson.String || !pyjson.KeyIs(found[0], capture.LLMResponse) || costMember(found[1]) == nil {
		return false
	}
	id, _ := pyjson.Lookup(found[1], "session_id")
	if id == nil || !pyjson.Truthy(id) {
		id = found[2]
	}
	if id == nil || !pyjson.Truthy(id) {
		return false
	}
	return pyjson.KindOf(id) != pyjson.String || !pyjson.KeyIs(id, owner)
}

// findings returns the faults of the log as a whole, in the words of the newest tools.
func (all *Events) findings(owner string) (found []string) {
	for _, code := range all.codes {
		found = append(found, "ci_"+string(code)+":"+owner)
	}
	if all.foreign {
		found = append(found, "foreign_cost:"+owner)
	}
	if all.unstable {
		found = append(found, "unstable_ci_capture:"+owner)
	}
	return found
}

// IsFile reports whether path is a regular file.
func IsFile(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular()
}

// LocateHere is [Locate] in the environment of the process.
func LocateHere(dir string) Files {
	return Locate(dir, os.Getenv(Variable), homeHere(), IsFile)
}

// DescriptionsHere is [Descriptions] in the environment of the process.
func DescriptionsHere(dir string) []string {
	return Descriptions(dir, os.Getenv(Variable), homeHere())
}

// homeHere returns the home directory, "" where it is not known: a base path that
// begins with "~" does not count then.
func homeHere() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}

// Open reads the log of events in the file path of the session owner. It returns nil if
// there is no such file. A file that cannot be read, or that changes during the read, is
// no error, but one of the findings. The error is the context's.
func Open(ctx context.Context, path, owner string) (*Events, error) {
	before, err := os.Stat(path)
	if err != nil || !before.Mode().IsRegular() {
		return nil, nil
	}
	all, err := openEvents(ctx, path, owner)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return &Events{codes: []capture.Code{unreadable}}, nil
	}
	after, err := os.Stat(path)
	all.unstable = err != nil || !os.SameFile(before, after) || before.Size() != after.Size() || !before.ModTime().Equal(after.ModTime())
	return all, nil
}

// unreadable is the code for a file that cannot be read.
const unreadable capture.Code = "unreadable_file"

func openEvents(ctx context.Context, path, owner string) (all *Events, err error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	dir := vfs.New(root, nil)
	f, err := dir.OpenRead(filepath.Base(path))
	if err = errors.Join(err, dir.Close()); err != nil {
		return nil, err
	}
	all, err = ReadEvents(ctx, f, owner)
	return all, errors.Join(err, f.Close())
}

// Variable is the variable of the environment that names the directory with the logs of
// all projects, if they are not in the sessions.
const Variable = "AMPLIFIER_CONTEXT_INTELLIGENCE_BASE_PATH"

const (
	captureDir      = "context-intelligence"
	logName         = "events.jsonl"
	descriptionName = "metadata.json"
)

// Files are the logs of events that costs are read from.
type Files struct {
	Capture  string // the only log that counts for forks and boundaries; it need not exist
	Ordinary string // the log for a session that is no fork: Capture if it is a file, else the session's events.jsonl
}

// Locate returns the logs of the session in the directory dir, which has the path
// <project>/sessions/<id>. base is the value of [Variable], which counts if it is
// absolute, or begins with "~/" for home, and holds no "${". Then a capture in the
// session never counts.
func Locate(dir, base, home string, isFile func(path string) bool) Files {
	f := Files{Capture: filepath.Join(dir, captureDir, logName)}
	if base, ok := baseOf(base, home); ok {
		f.Capture = filepath.Join(base, projectOf(dir), "sessions", filepath.Base(dir), captureDir, logName)
	}
	f.Ordinary = f.Capture
	if !isFile(f.Capture) {
		f.Ordinary = filepath.Join(dir, logName)
	}
	return f
}

// Descriptions returns the files in which tools may describe the session in the directory
// dir beside its log of events: in the session, below base as for [Locate], and below the
// directories in home that tools use by default.
func Descriptions(dir, base, home string) []string {
	files := []string{filepath.Join(dir, captureDir, descriptionName)}
	var roots []string
	if base, ok := baseOf(base, home); ok {
		roots = append(roots, base)
	}
	if home != "" {
		roots = append(roots, filepath.Join(home, ".amplifier", "projects"), filepath.Join(home, ".amplifier-agent", "state", "workspaces"))
	}
	for _, root := range roots {
		file := filepath.Join(root, projectOf(dir), "sessions", filepath.Base(dir), captureDir, descriptionName)
		if !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files
}

// projectOf returns the name of the project that the session in dir belongs to.
func projectOf(dir string) string { return filepath.Base(filepath.Dir(filepath.Dir(dir))) }

func baseOf(base, home string) (string, bool) {
	base = string(pyjson.TrimSpace([]byte(base)))
	if strings.Contains(base, "${") {
		return "", false
	}
	if rest, ok := strings.CutPrefix(base, "~"); ok && home != "" && (rest == "" || rest[0] == '/') {
		base = home + rest
	}
	return base, filepath.IsAbs(base)
}
