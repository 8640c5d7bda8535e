package opencode

import (
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHostileRows reads rows that opencode does not write: no session hides the others, an id
// names no other file, and no error has a value of a row.
func TestHostileRows(t *testing.T) {
	t.Parallel()
	const add = `INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) VALUES `
	for name, query := range map[string]string{
		"no id":        add + `(NULL, 'p', 's', '/w', 'x', '1', 1, 1)`,
		"bytes":        add + `(x'7365735f31', 'p', 's', '/w', 'x', '1', 1, 1)`,
		"a path":       add + `('ses_x/../ses_1', 'p', 's', '/w', 'x', '1', 1, 1)`,
		"an empty id":  add + `('', 'p', 's', '/w', 'x', '1', 1, 1)`,
		"a text":       `UPDATE session SET time_created = 'secret', time_updated = 'secret'; UPDATE message SET time_created = 'secret', time_updated = 'secret'; UPDATE part SET time_updated = 'secret'`,
		"a fraction":   `UPDATE session SET time_updated = 1e300; UPDATE message SET time_created = 1e18 + 0.5; UPDATE part SET time_updated = 1e300`,
		"far off":      `UPDATE session SET time_updated = 1000000000000000000; UPDATE message SET time_created = 1000000000000000; UPDATE part SET time_updated = 1000000000000000000`,
		"before":       `UPDATE session SET time_created = -1000000000000000000, time_updated = -1000000000000000000`,
		"of messages":  `UPDATE message SET id = NULL WHERE id = 'msg_0001'; UPDATE message SET id = CAST(id AS BLOB)`,
		"of parts":     `UPDATE part SET id = NULL WHERE id = 'prt_0001'; UPDATE part SET id = CAST(id AS BLOB)`,
		"a circle":     `UPDATE session SET parent_id = 'ses_1'`,
		"other blocks": `UPDATE message SET data = x'00ff'; UPDATE part SET data = 5`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := written(t, "closed")
			db, err := sql.Open("sqlite", path)
			require.NoError(t, err)
			_, err = db.Exec(query)
			require.NoError(t, err)
			require.NoError(t, db.Close())
			found, err := Tool{}.Find(t.Context(), filepath.Dir(path))
			require.NoError(t, err)
			require.Len(t, found, 1)
			require.Equal(t, "ses_1", found[0].ID)
			_, err = found[0].Modified.MarshalJSON()
			require.NoError(t, err)
			lines, err := linesOf(t, path)
			require.NoError(t, err)
			require.NotContains(t, lines, `"time": 1000000000000000`)
		})
	}
}

// TestSymlink reads the -wal of the database to which a symlink leads, and its facts.
func TestSymlink(t *testing.T) {
	t.Parallel()
	path, dir := written(t, "", "-wal", "-shm"), t.TempDir()
	require.NoError(t, os.Symlink(path, filepath.Join(dir, file)))
	want, err := linesOf(t, path)
	require.NoError(t, err)
	got, err := linesOf(t, filepath.Join(dir, file))
	require.NoError(t, err)
	require.Equal(t, want, got)
	to, err := filepath.EvalSymlinks(path)
	require.NoError(t, err)
	require.Contains(t, Tool{}.Database(dir), to+"-wal")
}

// TestMayNotOpen says so where the system does not let SQLite open a file.
func TestMayNotOpen(t *testing.T) {
	t.Parallel()
	err := query(t.Context(), filepath.Join(t.TempDir(), "none"), "mode=ro", func(r rows) error { return r.check() })
	require.ErrorIs(t, err, fs.ErrPermission)
}
