package commit

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
)

// When an operation of an append fails, the backup holds whole lines: those of main
// that it had, or more of them.
func TestAppendFails(t *testing.T) {
	t.Parallel()
	const main, backup = "one\ntwo\nthree\n", "one\ntwo\n"
	for name, f := range map[string]*crashsim.Failer{
		"full disk":                 {Err: syscall.ENOSPC, Stays: true},
		"full disk, half":           {Err: syscall.ENOSPC, Stays: true, Part: 50},
		"full disk, all but an end": {Err: syscall.ENOSPC, Stays: true, Part: 99},
		"quota, half":               {Err: syscall.EDQUOT, Part: 50},
		"EIO, half":                 {Err: syscall.EIO, Part: 50},
	} {
		for had, torn := range map[string]string{"a backup": backup, "a torn backup": backup + "th"} {
			t.Run(name+", "+had, func(t *testing.T) {
				t.Parallel()
				done := false
				for at := 0; !done; at++ {
					failer := &crashsim.Failer{At: -1, Err: f.Err, Part: f.Part, Stays: f.Stays}
					d, path := openSession(t, &seam.Seam{Before: failer.Before})
					put(t, main, path, "f")
					put(t, torn, path, "f.backup")
					is, err := d.Stat("f")
					require.NoError(t, err)
					failer.At = failer.Count() + at
					_, err = File{Dir: d, Name: "f", Sync: at%2 == 0}.Append(Addition{Main: is, Lines: []byte(strings.Repeat("x", 1000) + "\nlast\n"), Time: time.Now()})
					_, failed := failer.Failed()
					done = !failed
					for _, n := range []string{"f", sessiondir.Backup("f")} {
						data, rerr := os.ReadFile(filepath.Join(path, n))
						if os.IsNotExist(rerr) && n != "f" { // a sync failed: what is on the disk is not known
							continue
						}
						require.NoError(t, rerr)
						require.True(t, strings.HasSuffix(string(data), "\n") || string(data) == torn, "%s after %v: %.40q", n, err, data)
					}
				}
			})
		}
	}
}
