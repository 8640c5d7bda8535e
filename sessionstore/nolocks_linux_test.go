package sessionstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func init() { children["no locks"] = noLocksChild }

// TestNoLocks writes where the system refuses every lock, as mounts of NFS, SMB and
// FUSE may: a call says which option goes on, and with it each call succeeds, and the
// stores of the process keep each other out.
func TestNoLocks(t *testing.T) {
	testenv.Need(t, runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64", "the filter reads the arguments of system calls of little-endian 64-bit systems")
	for _, errno := range []unix.Errno{unix.ENOLCK, unix.ENOSYS, unix.EOPNOTSUPP} {
		t.Run(unix.ErrnoName(errno), func(t *testing.T) {
			h := newHouse(t)
			for _, dir := range []string{h.dir, filepath.Join(h.home, "elsewhere")} { // where hosts look for the session, and where they do not
				spawn(t, "no locks", dir, strconv.Itoa(int(errno)), h.home).End(t)
			}
		})
	}
}

// noLocksChild is TestNoLocks in a process without locks.
func noLocksChild(dir, argument string) error {
	workspace := filepath.Join(os.Getenv("HOME"), "work")
	n, err := strconv.ParseUint(argument, 10, 16)
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	if err := testenv.RefuseLocks(n); err != nil {
		return fmt.Errorf("refuse locks: %w", err)
	}
	ctx := context.Background()
	st, err := sessionstore.Open(dir, nil)
	if err != nil {
		return err
	}
	defer st.Close()
	if err := needOption(ctx, st, workspace, "create", "append", "save", "acquire"); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(dir, allID)); err == nil {
		return errors.New("there is a session")
	}
	options := &sessionstore.Options{SingleWriter: true}
	one, err := sessionstore.Open(dir, options)
	if err != nil {
		return err
	}
	defer one.Close()
	two, err := sessionstore.Open(dir, options)
	if err != nil {
		return err
	}
	defer two.Close()
	for _, id := range []string{ownedID, strings.Repeat("long", 60)} {
		if err := appendByTwo(ctx, one, two, id); err != nil {
			return err
		}
	}
	calls := noLocksCalls(one, workspace)
	for _, name := range []string{"create", "append", "save", "update", "config", "acquire"} {
		if err := calls[name](ctx); err != nil {
			return fmt.Errorf("%s with the option: %w", name, err)
		}
	}
	if err := needOption(ctx, st, workspace, "append", "save", "update", "config", "acquire", "delete"); err != nil {
		return err
	}
	if err := calls["delete"](ctx); err != nil {
		return fmt.Errorf("delete with the option: %w", err)
	}
	return runByOne(ctx, one, two, workspace)
}

// needOption requires calls of st to fail, and to name the option.
func needOption(ctx context.Context, st *sessionstore.Store, workspace string, names ...string) error {
	calls := noLocksCalls(st, workspace)
	for _, name := range names {
		if err := calls[name](ctx); err == nil || !strings.Contains(err.Error(), "file system has no locks") || !strings.Contains(err.Error(), "Options.SingleWriter") {
			return fmt.Errorf("%s without the option: %w", name, err)
		}
	}
	return nil
}

// allID is the session of noLocksCalls.
const allID = ownedID + "-all"

// noLocksCalls are calls of st that write session allID. A host would run it in the
// workspace.
func noLocksCalls(st *sessionstore.Store, workspace string) map[string]func(context.Context) error {
	const id = allID
	var md sessionstore.Metadata
	_ = md.Set("working_dir", workspace)
	row, _ := sessionstore.ParseMessage([]byte(user("row")))
	return map[string]func(context.Context) error{
		"create": func(ctx context.Context) error { return st.Create(ctx, id, md) },
		"append": func(ctx context.Context) error { return st.Append(ctx, id, row) },
		"save":   func(ctx context.Context) error { return st.Save(ctx, id, []sessionstore.Message{row, row}, md) },
		"update": func(ctx context.Context) error {
			_, err := st.UpdateMetadata(ctx, id, func(md *sessionstore.Metadata) error { return md.Set("n", 1) })
			return err
		},
		"config": func(ctx context.Context) error { return st.SaveConfig(ctx, id, md) },
		"acquire": func(ctx context.Context) error {
			hold, err := st.Acquire(ctx, id, sessionstore.Owner{})
			if err != nil {
				return err
			}
			return hold.Release()
		},
		"delete": func(ctx context.Context) error { return st.Delete(ctx, id) },
	}
}

// appendByTwo appends to one session by two stores at once. Nothing is lost.
func appendByTwo(ctx context.Context, one, two *sessionstore.Store, id string) error {
	const each = 20
	var wait sync.WaitGroup
	var failed [2]error
	for i, st := range []*sessionstore.Store{one, two} {
		wait.Go(func() {
			for n := range each {
				m, err := sessionstore.ParseMessage([]byte(numbered("row", i*each+n)))
				failed[i] = errors.Join(failed[i], err, st.Append(ctx, id, m))
			}
		})
	}
	wait.Wait()
	s, err := one.Load(ctx, id)
	if err := errors.Join(failed[0], failed[1], err); err != nil {
		return err
	}
	have := lines(s.Messages)
	slices.Sort(have)
	if have = slices.Compact(have); len(have) != 2*each {
		return fmt.Errorf("%d of %d messages are there", len(have), 2*each)
	}
	return nil
}

// runByOne runs a session by one store, which keeps the other out.
func runByOne(ctx context.Context, one, two *sessionstore.Store, workspace string) error {
	if err := noLocksCalls(one, workspace)["create"](ctx); err != nil {
		return err
	}
	calls := noLocksCalls(two, workspace)
	hold, err := one.Acquire(ctx, allID, sessionstore.Owner{App: "host"})
	if err != nil {
		return err
	}
	for _, name := range []string{"append", "acquire", "delete"} {
		if err := calls[name](ctx); !errors.Is(err, sessionstore.ErrLocked) || !strings.Contains(err.Error(), `"host" runs it`) {
			return fmt.Errorf("%s while another store runs the session: %w", name, err)
		}
	}
	if err := hold.Release(); err != nil {
		return err
	}
	for _, name := range []string{"append", "acquire", "delete"} {
		if err := calls[name](ctx); err != nil {
			return fmt.Errorf("%s after the other store ran it: %w", name, err)
		}
	}
	return nil
}
