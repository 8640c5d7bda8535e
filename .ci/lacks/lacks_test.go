package lacks

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// lack is something that emulators lack.
type lack struct {
	emulators []string
	works     func(dir string) error // fails where it is lacking
}

var lacks = map[string]lack{
	"append":   {[]string{"wine"}, appendTogether},
	"rename":   {[]string{"wine"}, renameOverOpen},
	"symlink":  {[]string{"wine"}, symlink},
	"creation": {[]string{"wine"}, creationStays},
	"openat2":  {[]string{"qemu"}, openBeneath},
	"procstat": {[]string{"qemu"}, procStat},
	"seccomp":  {[]string{"qemu"}, filterCalls},
}

// TestLacks shows what the emulator lacks, and that nothing else is lacking. A lack
// that comes out by chance is looked for some times.
func TestLacks(t *testing.T) {
	emulator := os.Getenv("EMULATOR")
	for name, l := range lacks {
		t.Run(name, func(t *testing.T) {
			if !slices.Contains(l.emulators, emulator) {
				require.NoError(t, l.works(t.TempDir()))
				return
			}
			err := error(nil)
			for try := 0; try < 20 && err == nil; try++ {
				err = l.works(t.TempDir())
			}
			require.Error(t, err, "%s has it now: take it from this list, and its tests from .ci/systems", emulator)
			t.Log(err)
		})
	}
}

// appendTogether appends to one file by several handles at once: every line
// stays.
func appendTogether(dir string) error {
	const writers, lines = 8, 200
	path := filepath.Join(dir, "log")
	errs := make([]error, writers)
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() { errs[w] = appendLines(path, lines) })
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	data, err := os.ReadFile(path)
	if n := bytes.Count(data, []byte("line\n")); err == nil && n != writers*lines {
		err = fmt.Errorf("%d of %d appended lines are there", n, writers*lines)
	}
	return err
}

func appendLines(path string, n int) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	for i := 0; i < n && err == nil; i++ {
		_, err = f.WriteString("line\n")
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// renameOverOpen renames over a file that is open and shares its deletion.
func renameOverOpen(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range []string{"old", "new"} {
		if err := root.WriteFile(name, nil, 0o600); err != nil {
			return err
		}
	}
	f, err := root.Open("old") // Root.Open shares deletion
	if err != nil {
		return err
	}
	defer f.Close()
	return root.Rename("new", "old")
}

// symlink makes a symlink by its path, and one in an open directory.
func symlink(dir string) error {
	path := filepath.Join(dir, "by path")
	if err := os.Symlink("target", path); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.Symlink("target", "link")
}

// procStat reads of itself what Linux tells of a process. What an emulator makes up
// for that differs from what another process reads of it, also in the time of its
// start.
func procStat(string) error {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return nil //nolint:nilerr // another system
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // what is in parentheses may hold anything
	if len(fields) < 21 || string(fields[20]) == "0" {              // field 23, the size of the memory
		return fmt.Errorf("this process has no memory: %s", stat)
	}
	return nil
}

// creationStays changes the time of a file: that of its creation stays, where the
// system tells it.
func creationStays(dir string) error {
	path := filepath.Join(dir, "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return err
	}
	before, err := created(path)
	if err != nil {
		return err
	}
	at := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, at, at); err != nil {
		return err
	}
	after, err := created(path)
	if err == nil && before != after {
		err = fmt.Errorf("the time of creation changed from %d to %d", before, after)
	}
	return err
}
