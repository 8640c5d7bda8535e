//go:build unix

package ownership

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// wait polls for as long as the tests need.
func wait(ctx context.Context, try func() error) error {
	return lock.Poll(ctx, time.Minute, try)
}

// once does not wait.
func once(_ context.Context, try func() error) error { return try() }

func TestTakeWaitsForCalls(t *testing.T) {
	t.Parallel()
	s := newSession(t, testID)
	first, err := Take(t.Context(), s, wait)
	require.NoError(t, err)
	require.NoFileExists(t, s.OwnerPath(), "a call says nothing")
	_, err = Take(t.Context(), s, once)
	var busy *BusyError
	require.ErrorAs(t, err, &busy)
	require.Nil(t, busy.Owner)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = Take(ctx, s, wait)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	time.AfterFunc(20*time.Millisecond, func() { _ = first.Release() })
	second, err := Take(t.Context(), s, wait)
	require.NoError(t, err)
	require.NoError(t, second.Release())
	require.NoFileExists(t, s.OwnerPath())
}

func TestTakeRefusesAHost(t *testing.T) {
	t.Parallel()
	s := newSession(t, testID)
	held, err := Take(t.Context(), s, wait)
	require.NoError(t, err)
	require.NoError(t, held.Announce(t.Context(), Options{App: "host"}))
	require.NoError(t, held.Announce(t.Context(), Options{App: "another"}), "it stays what it said")
	_, err = Take(t.Context(), s, wait)
	var busy *BusyError
	require.ErrorAs(t, err, &busy)
	require.Equal(t, "host", busy.Owner.App)

	require.NoError(t, held.Retract())
	require.NoError(t, held.Retract(), "twice is fine")
	require.Contains(t, readFile(t, s.OwnerPath()), `"active":false`)
	_, err = Take(t.Context(), s, once)
	require.ErrorAs(t, err, &busy)
	require.Nil(t, busy.Owner, "it is a call again")
	text := readFile(t, s.OwnerPath())
	require.NoError(t, held.Release())
	require.Equal(t, text, readFile(t, s.OwnerPath()))
}

// What a host left that crashed does not make a host of the call that has the
// lock.
func TestTakeBesideARecordOfTheDead(t *testing.T) {
	t.Parallel()
	self, err := thisProcess()
	require.NoError(t, err)
	ended := exec.CommandContext(t.Context(), "true")
	require.NoError(t, ended.Run())
	zombie := exec.CommandContext(t.Context(), "sleep", "600")
	require.NoError(t, zombie.Start())
	require.NoError(t, zombie.Process.Kill())
	t.Cleanup(func() { _ = zombie.Wait() })
	if _, known := readStat("self"); known {
		require.Eventually(t, func() bool {
			stat, ok := readStat(strconv.Itoa(zombie.Process.Pid))
			return ok && stat.state == "Z"
		}, time.Minute, time.Millisecond)
	}
	members := func(changes map[string]string) string {
		record, err := newRecord(newSession(t, testID), app)
		require.NoError(t, err)
		for name, value := range changes {
			record = pyjson.Splice(record, name, []byte(value))
		}
		return string(record)
	}
	tests := []struct {
		name, record string
		host         bool // that runs
		shown        bool // when it kept the lock for too long
		proc         bool // it takes /proc to know
	}{
		{"runs", members(nil), true, true, false},
		{"runs, of a system that does not tell when it began", members(map[string]string{"process_start_identity": "null"}), true, true, false},
		{"ended", members(map[string]string{"pid": strconv.Itoa(ended.Process.Pid), "process_start_identity": `"1"`}), false, false, false},
		{"killed, not waited for", members(map[string]string{"pid": strconv.Itoa(zombie.Process.Pid), "process_start_identity": "null"}), false, false, true},
		{"number used again", members(map[string]string{"process_start_identity": `"1"`}), false, false, true},
		{"on another machine", members(map[string]string{"hostname": quote(self.hostname + "x")}), false, true, false},
		{"no number", members(map[string]string{"pid": "true"}), false, true, false},
		{"not active", members(map[string]string{"active": "false"}), false, false, false},
		{"no record", "", false, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, known := readStat("self"); tt.proc && !known {
				t.Log("only Linux tells")
				return
			}
			s := newSession(t, testID)
			held, err := Take(t.Context(), s, wait)
			require.NoError(t, err)
			if tt.record != "" {
				require.NoError(t, os.WriteFile(s.OwnerPath(), []byte(tt.record), 0o600))
			}
			tries := 0
			_, err = Take(t.Context(), s, func(_ context.Context, try func() error) error {
				tries++
				err := try()
				require.Equal(t, !tt.host, errors.Is(err, lock.ErrBusy), "whether it is waited for")
				return err
			})
			require.Equal(t, 1, tries)
			var busy *BusyError
			require.ErrorAs(t, err, &busy)
			require.Equal(t, tt.shown, busy.Owner != nil)
			require.NoError(t, held.Release())
			if tt.record != "" {
				require.Equal(t, tt.record, readFile(t, s.OwnerPath()), "calls leave it alone")
			}
			entries, err := os.ReadDir(filepath.Dir(s.OwnerPath()))
			require.NoError(t, err)
			require.LessOrEqual(t, len(entries), 2)
		})
	}
}
