package commit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestAmend gives the backup the next content of the file, in bytes of one sector alone.
// Any other backup stays as it is.
func TestAmend(t *testing.T) {
	t.Parallel()
	text := func(before int, count string, after int) string {
		return strings.Repeat("a", before) + count + strings.Repeat("z", after)
	}
	for _, tt := range []struct {
		name, backup, next string
		change             func(t *testing.T, path string) // before
		amends             bool
	}{
		{name: "a digit", backup: text(5, "1", 5), next: text(5, "3", 5), amends: true},
		{name: "digits", backup: text(5, "19", 900), next: text(5, "21", 900), amends: true},
		{name: "the end of a sector", backup: text(510, "19", 9), next: text(510, "21", 9), amends: true},
		{name: "digits in two sectors", backup: text(511, "19", 9), next: text(511, "21", 9)},
		{name: "nothing", backup: text(5, "3", 5), next: text(5, "3", 5), amends: true},
		{name: "another length", backup: text(5, "9", 5), next: text(5, "11", 5)},
		{name: "more than a count", backup: text(5, "1", 900) + "x", next: text(5, "3", 901)},
		{name: "another mode", backup: "1", next: "3", change: func(t *testing.T, path string) {
			require.NoError(t, os.Chmod(path+".backup", 0o644))
		}},
		{name: "two names", backup: "1", next: "3", change: func(t *testing.T, path string) {
			require.NoError(t, os.Link(path+".backup", path+".other"))
		}},
		{name: "a link", backup: "1", next: "3", change: func(t *testing.T, path string) {
			require.NoError(t, os.Rename(path+".backup", path+".other"))
			require.NoError(t, os.Symlink("f.other", path+".backup"))
		}},
		{name: "no backup", backup: "1", next: "3", change: func(t *testing.T, path string) {
			require.NoError(t, os.Remove(path+".backup"))
		}},
		{name: "a reader", backup: "1", next: "3", change: func(t *testing.T, path string) {
			f, err := os.Open(path + ".backup")
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, f.Close()) })
		}},
	} {
		for _, sync := range []bool{true, false} {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				d, path := openSession(t, nil)
				put(t, "main", path, "f")
				put(t, tt.backup, path, "f.backup")
				if tt.change != nil {
					tt.change(t, filepath.Join(path, "f"))
				}
				before := content(t, path)
				f := File{Dir: d, Name: "f", Sync: sync}
				main, err := d.Stat("f")
				require.NoError(t, err)
				at := time.Now().Add(time.Hour).Truncate(time.Second)
				a, err := f.Amend(main, []byte(tt.next), at)
				if !tt.amends {
					require.ErrorIs(t, err, ErrRewrite)
					require.Equal(t, before, content(t, path))
					return
				}
				require.NoError(t, err)
				done, err := a.Commit()
				require.NoError(t, err)
				a.Discard()
				require.Equal(t, map[string]string{"f": tt.next, "f.backup": "main"}, content(t, path))
				now, err := d.Stat("f")
				require.NoError(t, err)
				require.Equal(t, now, done.Main)
				require.True(t, now.Mtime.Equal(at))
			})
		}
	}
}

// Another program replaces the file between Amend and Commit: its file stays.
func TestAmendOvertaken(t *testing.T) {
	t.Parallel()
	d, path := openSession(t, nil)
	put(t, "2", path, "f")
	put(t, "1", path, "f.backup")
	main, err := d.Stat("f")
	require.NoError(t, err)
	a, err := File{Dir: d, Name: "f", Sync: true}.Amend(main, []byte("3"), time.Now())
	require.NoError(t, err)
	put(t, "theirs", path, "other")
	require.NoError(t, os.Rename(filepath.Join(path, "other"), filepath.Join(path, "f")))
	_, err = a.Commit()
	require.ErrorIs(t, err, ErrOvertaken)
	a.Discard()
	require.Equal(t, map[string]string{"f": "theirs", "f.backup": "3"}, content(t, path))
}
