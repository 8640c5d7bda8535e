package crashsim

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/stretchr/testify/require"
)

func TestVerifyFindsWhatWasNotAnnounced(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		do   func(h hand) error
		want string // in the error; empty: none
	}{
		{"nothing", func(hand) error { return nil }, ""},
		{"write", func(h hand) error { return os.WriteFile(h.path("main"), []byte("other"), 0o600) }, "main"},
		{"create", func(h hand) error { return os.WriteFile(h.path("new"), nil, 0o600) }, "new"},
		{"remove", func(h hand) error { return os.Remove(h.path("main")) }, "main"},
		{"link", func(h hand) error { return hand{nil, h.dir}.link("main", "same") }, "same"},
		{"rename", func(h hand) error { return hand{nil, h.dir}.rename("main", "moved") }, "main"},
		{"copy for a link", func(h hand) error {
			return script(
				func() error { return h.link("main", "same") },
				func() error { return os.Remove(h.path("same")) },
				func() error { return os.WriteFile(h.path("same"), []byte(before), 0o600) },
			)
		}, "same"},
		{"wrong offset", func(h hand) error {
			op := h.op(seam.Write, "main")
			op.Off, op.Data = 1, []byte("x")
			return h.seam.Write(op, func([]byte) error { return hand{nil, h.dir}.write("main", 0, "x") })
		}, "main"},
		{"ignored", func(h hand) error { return os.WriteFile(h.path("lock"), nil, 0o600) }, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r, h := record(t, map[string]string{"main": before})
			require.NoError(t, test.do(h))
			err := r.Verify(func(name string) bool { return name == "lock" })
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.want)
			require.NotContains(t, err.Error(), "one", "no content in errors")
		})
	}
}

func TestRecorderRefusesForeignPaths(t *testing.T) {
	t.Parallel()
	r, h := record(t, nil)
	other := t.TempDir()
	require.NoError(t, hand{h.seam, other}.create("x"))
	_, err := r.Log()
	require.ErrorContains(t, err, "record create")
	require.Zero(t, r.Len())
}

func TestRecordMissing(t *testing.T) {
	t.Parallel()
	_, err := Record(filepath.Join(t.TempDir(), "missing"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestRecorderCopiesData(t *testing.T) {
	t.Parallel()
	r, h := record(t, map[string]string{"main": ""})
	data := []byte(before)
	op := h.op(seam.Write, "main")
	op.Data = data
	require.NoError(t, h.seam.Write(op, func([]byte) error { return nil }))
	copy(data, "XXX")
	log, err := r.Log()
	require.NoError(t, err)
	require.Equal(t, before, string(log.Steps[0].Data))
	require.Equal(t, "write main at 0, 4 bytes", log.Steps[0].String())
}

// A log that cannot have happened is an error, not a state.
func TestImpossibleLogs(t *testing.T) {
	t.Parallel()
	tests := []Step{
		{Kind: seam.Write, Path: "missing"},
		{Kind: seam.Write, Path: "s"},
		{Kind: seam.Write, Path: "s/main", Off: -1},
		{Kind: seam.Truncate, Path: "s/main", Off: 1 << 40},
		{Kind: seam.Sync, Path: "s"},
		{Kind: seam.SyncDir, Path: "s/main"},
		{Kind: seam.Create, Path: "s/main"},
		{Kind: seam.Mkdir, Path: "missing/dir"},
		{Kind: seam.Remove, Path: "s"},
		{Kind: seam.Remove, Path: "."},
		{Kind: seam.Rename, Path: "missing", To: "other"},
		{Kind: seam.Rename, Path: "s/main", To: "s"},
		{Kind: seam.Rename, Path: "s", To: "s/below"},
		{Kind: seam.Exchange, Path: "s", To: "s/main"},
		{Kind: seam.Exchange, Path: "s/main", To: "missing"},
		{Kind: seam.Link, Path: "s/main", To: "s"},
		{Kind: 99, Path: "s/main"},
	}
	for _, step := range tests {
		t.Run(step.String(), func(t *testing.T) {
			t.Parallel()
			r, _ := record(t, map[string]string{"s/main": before})
			log, err := r.Log()
			require.NoError(t, err)
			log.Steps = append(log.Steps, step)
			var last error
			n := 0
			for s, err := range (&Crash{Log: log}).States(nil) {
				require.Equal(t, s == nil, err != nil)
				last = err
				n++
			}
			require.ErrorContains(t, last, "replay "+step.String())
			require.Equal(t, 2, n, "the state of the beginning, then the error")
		})
	}
}
