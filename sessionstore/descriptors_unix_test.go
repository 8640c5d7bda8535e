//go:build unix

package sessionstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// descriptorSessions returns how many sessions are written.
func descriptorSessions() string {
	return testenv.Share("400", "400", testenv.Further("2000", "10000")) // a process may have 256 files open
}

// TestFewDescriptors writes many sessions, and each again, by one store in a
// process that may have 256 files open. Their ids are those of sub-sessions,
// which have no ownership lock.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	spawn(t, "few", testenv.Scratch(t), descriptorSessions()+",_agent", testenv.Scratch(t)).End(t)
}

// TestFewDescriptorsOfOwned is the same at the default place and with ids that
// hosts can own.
func TestFewDescriptorsOfOwned(t *testing.T) {
	t.Parallel()
	sessions := testenv.Share("260", "260", testenv.Further("1000", "3000")) // a process may have 256 files open
	spawn(t, "few", testenv.Scratch(t), sessions+",", testenv.Scratch(t)).End(t)
}

func init() { children["few"] = fewDescriptorsChild }

// fewDescriptorsChild writes as many sessions as its argument says, and then with
// which end of their ids: in dir, or for ids without an end at the default place of
// the workspace dir.
func fewDescriptorsChild(dir, argument string) error {
	count, suffix, _ := strings.Cut(argument, ",")
	sessions, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	limit := syscall.Rlimit{Cur: 256, Max: 256}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	if suffix == "" {
		if err := os.Chdir(dir); err != nil {
			return err
		}
		dir = ""
	}
	st, err := sessionstore.Open(dir, &sessionstore.Options{Durability: sessionstore.Relaxed})
	if err != nil {
		return err
	}
	if err := writeSessions(st, sessions, suffix); err != nil {
		return err
	}
	if err := writeWithoutDescriptors(st, suffix); err != nil {
		return err
	}
	return st.Close()
}

func writeSessions(st *sessionstore.Store, sessions int, suffix string) error {
	ctx := context.Background()
	row, err := sessionstore.ParseMessage([]byte(user("hi")))
	if err != nil {
		return err
	}
	for round := range 2 {
		for i := range sessions {
			id := fmt.Sprint("s", i, suffix)
			if i%2 == 0 {
				err = st.Append(ctx, id, row)
			} else {
				err = st.Save(ctx, id, []sessionstore.Message{row, row}[:round+1], sessionstore.Metadata{})
			}
			if err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
		}
		if n, err := openFiles(); err != nil || n > 32 {
			return fmt.Errorf("%d files are open: %w", n, err)
		}
	}
	return nil
}

// writeWithoutDescriptors writes when the program itself has taken all the descriptors
// that are left: the call fails, writes nothing, and succeeds when there are some again.
func writeWithoutDescriptors(st *sessionstore.Store, suffix string) error {
	row, err := sessionstore.ParseMessage([]byte(user("hi")))
	if err != nil {
		return err
	}
	leave, err := testenv.TakeDescriptors(0)
	if err != nil {
		return err
	}
	failed := st.Append(context.Background(), "s0"+suffix, row)
	leave()
	if !errors.Is(failed, syscall.EMFILE) {
		return fmt.Errorf("without descriptors: %w", failed)
	}
	for n := 2; n <= 3; n++ {
		s, err := st.Load(context.Background(), "s0"+suffix)
		if err != nil || len(s.Messages) != n {
			return fmt.Errorf("%d messages, not %d: %w", len(s.Messages), n, err)
		}
		if err := st.Append(context.Background(), "s0"+suffix, row); err != nil {
			return err
		}
	}
	return nil
}

// openFiles counts the descriptors of this process, where the system tells.
func openFiles() (int, error) {
	dir := "/proc/self/fd"
	if _, err := os.Stat(dir); err != nil {
		return 0, nil
	}
	found, err := filepath.Glob(dir + "/*")
	return len(found), err
}
