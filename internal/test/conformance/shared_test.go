package conformance

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/ownership"
)

// env is an environment of variables and a working directory alone.
func env(vars map[string]string, cwd string) ownership.Env {
	return ownership.Env{
		Lookup: func(key string) (string, bool) { v, ok := vars[key]; return v, ok },
		Home:   func(string) (string, error) { return "", errors.New("no such user") },
		Getwd:  func() (string, error) { return cwd, nil },
	}
}

// sharedOutcome is what became of a call on the state that hosts share: the
// sentinels are the reference's types, the texts its own.
func sharedOutcome(err error) string {
	switch {
	case err == nil:
		return succeeded
	case errors.Is(err, ownership.ErrInvalid):
		return valueError + err.Error()
	case errors.Is(err, ownership.ErrUnsafe):
		return "SharedStateError: " + err.Error()
	case errors.Is(err, ownership.ErrFenced):
		return "SessionTransferFencedError: " + err.Error()
	}
	return "error: " + err.Error()
}

// shared is the same of an exception.
func (f *failure) shared() string {
	if f == nil {
		return succeeded
	}
	return f.Type + ": " + f.Message
}

// pathsCase are the paths of a session whose workspace was written down.
type pathsCase struct {
	Workspace string
	SessionID json.RawMessage `json:"session_id"`
	Env       map[string]string
	Root      string
	Cwd       string
	sharedPaths
	Error *failure
}

type sharedPaths struct {
	StateRoot       string `json:"state_root"`
	WorkspaceKey    string `json:"workspace_key"`
	Directory       string `json:"directory"`
	Lock            string `json:"lock"`
	Owner           string `json:"owner"`
	Checkpoint      string `json:"checkpoint"`
	NativeDirectory string `json:"native_directory"`
	Fence           string `json:"fence"`
}

type pathsOutcome struct {
	Paths  sharedPaths
	Failed string
}

// badSchema is what the reference says of an identity of another version.
const badSchema = valueError + "retained session identity has an unsupported schema"

func (c pathsCase) run(t *testing.T) verdict {
	reference := pathsOutcome{c.sharedPaths, c.Error.shared()}
	return judge(reference, c.ours(t), func(f *fired) pathsOutcome {
		if !c.expressible() && f.by(identityTyped) {
			return pathsOutcome{Failed: notExpressible}
		}
		return reference
	})
}

// expressible reports whether the identity can be written down in Go, where
// it has no version and its id is a text.
func (c pathsCase) expressible() bool {
	return kindOf(string(c.SessionID)) == kindOf(`""`) && c.Error.shared() != badSchema
}

func (c pathsCase) ours(t *testing.T) pathsOutcome {
	t.Helper()
	if !c.expressible() {
		return pathsOutcome{Failed: notExpressible}
	}
	var id string
	require.NoError(t, json.Unmarshal(c.SessionID, &id))
	e := env(c.Env, c.Cwd)
	e.StateRoot = c.Root
	s, err := ownership.LocateRetained(e, ownership.Identity{Workspace: c.Workspace, SessionID: id})
	if err != nil {
		return pathsOutcome{Failed: sharedOutcome(err)}
	}
	return pathsOutcome{Paths: sharedPaths{
		StateRoot: s.StateRoot, WorkspaceKey: s.WorkspaceKey(), Directory: s.Directory(), Lock: s.LockPath(),
		Owner: s.OwnerPath(), Checkpoint: s.CheckpointPath(), NativeDirectory: s.NativeDirectory(), Fence: s.FencePath(),
	}}
}

// workspaceCase is the canonical form of a path below {DIR}, the working
// directory.
type workspaceCase struct {
	Tree      []string
	Input     string
	Canonical string
	Error     *failure
}

type workspaceOutcome struct{ Canonical, Failed string }

func (c workspaceCase) run(t *testing.T) verdict {
	dir := newPlace(t).dir
	at := func(s string) string { return strings.ReplaceAll(s, "{DIR}", dir) }
	for _, entry := range c.Tree {
		name, target, link := strings.Cut(entry, " -> ")
		path := filepath.Join(dir, name)
		switch {
		case link:
			require.NoError(t, os.Symlink(at(target), path))
		case strings.HasSuffix(entry, "/"):
			require.NoError(t, os.Mkdir(path, 0o700))
		default:
			require.NoError(t, os.WriteFile(path, nil, 0o600))
		}
	}
	got, err := ownership.Canonical(env(nil, dir), at(c.Input))
	return equal(workspaceOutcome{at(c.Canonical), c.Error.shared()}, workspaceOutcome{got, sharedOutcome(err)})
}
