//go:build unix

package sessionstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func init() { children["exhaustedEmpty"] = exhaustedEmptyChild }

// TestEmptiedWithoutDescriptors reads a session that was emptied on purpose in a
// process that has few descriptors left. Where the reason for which it is empty
// cannot be read, the call fails: the backup does not stand in.
func TestEmptiedWithoutDescriptors(t *testing.T) {
	t.Parallel()
	for _, why := range []string{"recorded", "rewound"} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			spawn(t, "exhaustedEmpty", filepath.Join(t.TempDir(), "sessions"), why, t.TempDir()).End(t)
		})
	}
}

func exhaustedEmptyChild(dir, argument string) error {
	if err := testenv.LimitDescriptors(); err != nil {
		return err
	}
	if err := emptyOnPurpose(dir, argument); err != nil {
		return err
	}
	read := 0
	for _, name := range []string{"load", "messages", "strict"} {
		for few := range 14 {
			rows, err := readWithFew(dir, name, few)
			if err == nil && len(rows) > 0 || err != nil && !errors.Is(err, syscall.EMFILE) {
				return fmt.Errorf("%s with %d descriptors: %d rows, %w", name, few, len(rows), err)
			}
			if err == nil {
				read++
			}
		}
	}
	if read == 0 {
		return errors.New("no call succeeded")
	}
	return nil
}

func readWithFew(dir, name string, few int) ([]string, error) {
	st, err := sessionstore.Open(dir, nil)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	leave, err := testenv.TakeDescriptors(few)
	if err != nil {
		return nil, err
	}
	defer leave()
	_, _, rows, err := exhaustedCalls[name](context.Background(), st, sessionstore.Message{}, 0)
	return rows, err
}

// emptyOnPurpose makes an empty transcript beside a backup with rows and metadata
// that counts turns. Only a record of the store or a copy from before a rewind
// says that this was meant.
func emptyOnPurpose(dir, why string) error {
	ctx := context.Background()
	st, err := sessionstore.Open(dir, nil)
	if err != nil {
		return err
	}
	defer st.Close()
	row, err := sessionstore.ParseMessage([]byte(numbered("row", 1)))
	if err != nil {
		return err
	}
	md, err := sessionstore.ParseMetadata([]byte(`{"turn_count": 1}`))
	if err != nil {
		return err
	}
	if err := errors.Join(st.Save(ctx, exhaustedID, []sessionstore.Message{row}, md), st.Save(ctx, exhaustedID, nil, md)); err != nil {
		return err
	}
	path := filepath.Join(dir, exhaustedID)
	emptied, err := os.Stat(filepath.Join(path, transcriptFile))
	if err != nil {
		return err
	}
	at := emptied.ModTime().Truncate(time.Second) // as by a clock of coarse steps
	if why == "rewound" {
		at = at.Add(-time.Hour) // no record tells of it
		copied := filepath.Join(path, transcriptFile+".bak-pre-rewind-"+time.Now().UTC().Add(time.Minute).Format("20060102150405"))
		if err := os.WriteFile(copied, []byte("{}\n"), 0o600); err != nil {
			return err
		}
	}
	return os.Chtimes(filepath.Join(path, transcriptFile), at, at)
}
