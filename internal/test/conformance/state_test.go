package conformance

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/ownership"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// stateFile is a file of the shared state in the vectors. Its kind is file,
// symlink, dangling or dir.
type stateFile struct {
	Kind string
	Data *content
}

// put makes the file path with that mode.
func (s stateFile) put(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	switch s.Kind {
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
		require.Equal(t, "file", s.Kind)
	}
	if s.Data != nil {
		require.NoError(t, os.WriteFile(path, []byte(s.Data.String()), 0o600))
		require.NoError(t, os.Chmod(path, mode))
	}
}

func openRoot(t *testing.T, dir string) *os.Root {
	t.Helper()
	r, err := os.OpenRoot(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

// ownerCase is what others are shown of a holder. The vectors do not tell the
// mode of the file, which must not matter.
type ownerCase struct {
	stateFile
	Expected string `json:"expected_json"`
}

func (c ownerCase) run(t *testing.T) verdict {
	for _, mode := range []fs.FileMode{0o600, 0o644} {
		dir := t.TempDir()
		c.put(t, filepath.Join(dir, ownership.OwnerName), mode)
		if v := equal(c.shown(), shown(t, ownership.ReadOwner(openRoot(t, dir)))); v.err != nil {
			return v
		}
	}
	return verdict{}
}

// shownOwner is an owner: as a whole, and the members that have a name in Go.
type shownOwner struct {
	Raw, App, Hostname, User, AcquiredAt, Workspace, SessionID string
	PID                                                        int64
}

func (c ownerCase) shown() shownOwner {
	o := shownOwner{Raw: c.Expected}
	if c.Expected == "null" {
		return o
	}
	members := parseObject(c.Expected)
	for name, into := range map[string]*string{
		"app": &o.App, "hostname": &o.Hostname, "user": &o.User,
		"acquired_at": &o.AcquiredAt, "workspace": &o.Workspace, "session_id": &o.SessionID,
	} {
		*into = textOf(members.get(name))
	}
	if pid := members.get("pid"); kindOf(pid) == pyjson.Integer {
		o.PID, _ = strconv.ParseInt(pid, 10, 64) // 0 for true and false, in both
	}
	return o
}

func shown(t *testing.T, o *ownership.Owner) shownOwner {
	t.Helper()
	if o == nil {
		return shownOwner{Raw: "null"}
	}
	return shownOwner{ascii(t, o.Raw), o.App, o.Hostname, o.User, o.AcquiredAt, o.Workspace, o.SessionID, o.PID}
}

// fenceCase is a transfer fence, read, and met by a host that wants the
// session.
type fenceCase struct {
	stateFile
	SessionID string `json:"session_id"`
	Mode      string
	Expected  string `json:"expected_json"`
	Error     *failure
	Acquire   string
}

type fenceOutcome struct {
	Fence, Failed string
	There         bool   // anything of that name forbids to write
	Acquire       string // ok or the type of the exception
	Met           string // the fence that the exception carries
	Announced     bool   // the host called itself the owner
}

func (c fenceCase) run(t *testing.T) verdict {
	reference := fenceOutcome{
		Fence: c.Expected, Failed: c.Error.shared(), There: c.Kind != "file" || c.Data != nil,
		Acquire: c.Acquire, Announced: c.Acquire == "ok", Met: "null",
	}
	if c.Acquire == "SessionTransferFencedError" {
		reference.Met = c.Expected
	}
	p := newPlace(t)
	home := filepath.Dir(p.dir)
	s, err := ownership.Locate(env(map[string]string{"HOME": home}, home), ownership.Identity{Workspace: p.workspace, SessionID: c.SessionID})
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(s.NativeDirectory(), 0o755))
	mode, err := strconv.ParseUint(c.Mode, 8, 32)
	require.NoError(t, err)
	c.put(t, s.FencePath(), fs.FileMode(mode))

	fence, err := ownership.ReadFence(s)
	ours := fenceOutcome{Failed: sharedOutcome(err)}
	if err == nil {
		ours.Fence = fenceText(t, fence)
	}
	ours.There, err = ownership.HasFence(openRoot(t, s.NativeDirectory()))
	require.NoError(t, err)
	ours.Acquire, ours.Met = acquired(t, s)
	_, err = os.Stat(s.OwnerPath())
	ours.Announced = err == nil
	require.FileExists(t, s.LockPath())
	return equal(reference, ours)
}

// fenceText writes a fence as the vectors do.
func fenceText(t *testing.T, f *ownership.Fence) string {
	t.Helper()
	if f == nil {
		return "null"
	}
	return ascii(t, []byte(object{
		{"version", "1"},
		{"session_id", text(f.SessionID)},
		{"transfer_id", text(f.TransferID)},
		{"destination_host", text(f.DestinationHost)},
		{"role", text(f.Role)},
		{"phase", text(f.Phase)},
	}.String()))
}

// acquired is what becomes of a host that wants the session, and the fence
// that it met.
func acquired(t *testing.T, s ownership.Session) (failed, met string) {
	t.Helper()
	held, err := ownership.Acquire(t.Context(), s, ownership.Options{App: "test"})
	if err == nil {
		require.NoError(t, held.Release())
		return "ok", "null"
	}
	var fenced *ownership.FencedError
	if met = "null"; errors.As(err, &fenced) {
		met = fenceText(t, &fenced.Fence)
	}
	failed, _, _ = strings.Cut(sharedOutcome(err), ":")
	return failed, met
}

// stateCase is a value, written as a file that hosts share.
type stateCase struct {
	Value     string `json:"value_json"`
	Expected  *content
	Mode      string
	Error     *failure
	Leftovers []string
}

// stateOutcome has no text of an error: those are Python's.
type stateOutcome struct {
	Content, Mode string
	Failed        bool
	Others        int // files that are left beside
}

func (c stateCase) run(t *testing.T) verdict {
	reference := stateOutcome{Mode: c.Mode, Failed: c.Error != nil, Others: len(c.Leftovers)}
	if c.Expected != nil {
		reference.Content = c.Expected.String()
	}
	dir := t.TempDir()
	err := ownership.WriteState(vfs.New(openRoot(t, dir), nil), ownership.OwnerName, []byte(c.Value))
	ours := stateOutcome{Failed: err != nil}
	if err != nil {
		require.ErrorIs(t, err, ownership.ErrInvalid)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		if e.Name() != ownership.OwnerName {
			ours.Others++
			continue
		}
		info, err := e.Info()
		require.NoError(t, err)
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		ours.Content, ours.Mode = string(data), strconv.FormatUint(uint64(info.Mode()), 8)
	}
	return equal(reference, ours)
}
