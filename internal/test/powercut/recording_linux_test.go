package powercut

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/powercut/cloud"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/device"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/disk"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/history"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/reader"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/record"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/workload"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// A recording is what a workload did to a disk, and what was acknowledged.
type recording struct {
	dir     string
	mnt     string // where its file system was mounted, and is again
	size    int64
	entries []record.Entry
	calls   []*history.History
}

// A worker is what the child that calls the store is told.
type worker struct {
	Root     string // where the file system is mounted
	Seed     uint64
	Scale    int
	Loud     bool
	Subjects []history.Subject // to go on with, after a cut
	Cloud    string            // the requests to go on with; empty: none
	Cut      int
}

// makeRecord lets w work on a new file system, or on the one in the file start.
// While it works, the directory dir has: disk, position, record, calls, cloud and,
// unless w has another one, mnt.
func makeRecord(t *testing.T, dir string, k device.Kind, start string, w worker) recording {
	t.Helper()
	if w.Root == "" {
		w.Root = filepath.Join(dir, "mnt")
	}
	for _, name := range []string{filepath.Join(dir, "disk"), w.Root} {
		require.NoError(t, os.MkdirAll(name, 0o700))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "size"), []byte(fmt.Sprint(k.Size)), 0o600))
	_, err := disk.NewPosition(filepath.Join(dir, "position"))
	require.NoError(t, err)
	server := testenv.Spawn(t, "disk", dir, start)
	line, _ := server.Line()
	require.Equal(t, "ready", line, "the disk does not start")
	require.NoError(t, workOn(t, dir, k, start == "", w))
	require.NoError(t, device.Unmount(filepath.Join(dir, "disk")))
	server.End(t)
	return readRecord(t, dir, w.Root)
}

// workOn mounts the file system on the disk in dir and lets w work.
func workOn(t *testing.T, dir string, k device.Kind, format bool, w worker) (err error) {
	t.Helper()
	d, err := device.Attach(filepath.Join(dir, "disk", disk.Name), true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Detach()) }()
	if format {
		if err := d.Format(k); err != nil {
			return err
		}
	}
	if err := d.Mount(k, w.Root); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, device.Unmount(w.Root)) }()
	told, err := json.Marshal(w)
	if err != nil {
		return err
	}
	name := "work"
	if !format {
		name = "go on"
	}
	testenv.Spawn(t, name, dir, string(told)).End(t)
	return nil
}

func readSize(dir string) (size int64, err error) {
	b, err := os.ReadFile(filepath.Join(dir, "size"))
	if err == nil {
		_, err = fmt.Sscan(string(b), &size)
	}
	return size, err
}

func readRecord(t *testing.T, dir, mnt string) recording {
	t.Helper()
	r := recording{dir: dir, mnt: mnt}
	var err error
	r.size, err = readSize(dir)
	require.NoError(t, err)
	b, err := os.ReadFile(filepath.Join(dir, "record"))
	require.NoError(t, err)
	r.entries, err = record.Parse(b)
	require.NoError(t, err)
	f, err := os.Open(filepath.Join(dir, "calls"))
	require.NoError(t, err)
	defer f.Close()
	r.calls, err = history.Read(f)
	require.NoError(t, err)
	for _, h := range r.calls {
		for _, c := range h.Calls {
			require.Empty(t, c.Failed, "%s of %s %s/%s failed", c.Kind, h.Subject.View, h.Subject.Dir, h.Subject.ID)
		}
	}
	return r
}

// workChild calls the store.
func workChild(dir, told string) error {
	return inNotebook(dir, told, func(ctx context.Context, b *workload.Notebook, w worker) error {
		return b.Run(ctx, w.Root, w.Scale, w.Loud)
	})
}

// goOnChild calls the store after a power cut.
func goOnChild(dir, told string) error {
	return inNotebook(dir, told, func(ctx context.Context, b *workload.Notebook, w worker) error {
		return b.GoOn(ctx, w.Root, w.Subjects)
	})
}

// inNotebook opens what a worker needs, below dir, and lets it work.
func inNotebook(dir, told string, work func(context.Context, *workload.Notebook, worker) error) (err error) {
	var w worker
	if err := json.Unmarshal([]byte(told), &w); err != nil {
		return err
	}
	position, err := disk.OpenPosition(filepath.Join(dir, "position"))
	if err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(dir, "calls"))
	if err != nil {
		return err
	}
	requests, err := os.Create(filepath.Join(dir, "cloud"))
	if err != nil {
		return err
	}
	ctx := context.Background()
	account, err := w.account(ctx, requests, position.Get)
	if err != nil {
		return err
	}
	r := reader.New(w.Root)
	err = work(ctx, workload.NewNotebook(out, position.Get, r, account, w.Seed), w)
	return errors.Join(err, r.Close(), out.Close(), requests.Close())
}

// account returns the cloud as it was at the cut, or an empty one. It puts the home
// directory of the device, where the device's id is, on the disk.
func (w worker) account(ctx context.Context, out io.Writer, position func() uint64) (*cloud.Account, error) {
	if err := os.Setenv("AMPLIFIER_HOME", filepath.Join(w.Root, "home")); err != nil {
		return nil, err
	}
	if w.Cloud == "" {
		return cloud.New(ctx, out, position)
	}
	log, err := os.Open(w.Cloud)
	if err != nil {
		return nil, err
	}
	a, err := cloud.Again(ctx, log, w.Cut, out, position)
	return a, errors.Join(err, log.Close())
}

// syncChild lets the devices sync with the cloud as it was at a cut, and prints the
// states of the subjects after that.
func syncChild(_, told string) error {
	var w worker
	if err := json.Unmarshal([]byte(told), &w); err != nil {
		return err
	}
	ctx := context.Background()
	account, err := w.account(ctx, io.Discard, func() uint64 { return 0 })
	if err != nil {
		return err
	}
	states, err := account.Look(ctx, w.Root, w.Subjects)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(states)
}
