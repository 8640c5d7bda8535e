package sessioncost

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

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
