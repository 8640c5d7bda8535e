package sessionstore

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestKnownMetadataModel makes random changes as other tools do, and compares what a
// store reads that has read the metadata before with what a new one reads.
func TestKnownMetadataModel(t *testing.T) {
	t.Parallel()
	n := testenv.Seed(t)
	for i := range uint64(4) {
		t.Run(fmt.Sprint("run=", i), func(t *testing.T) {
			t.Parallel()
			st := knowingStore(t, "a", "b", "c", "p_x")
			m := &knownModel{t: t, r: rand.New(rand.NewPCG(n, i)), st: st, dir: st.Dir()}
			defer func() {
				if t.Failed() {
					t.Logf("changes: %v", m.log)
				}
			}()
			for range 100 {
				m.step()
			}
		})
	}
}

type knownModel struct {
	t   *testing.T
	r   *rand.Rand
	st  *Store
	dir string
	log []string
}

func (m *knownModel) step() {
	id := []string{"a", "b", "c", "d", "p_x", "p_y"}[m.r.IntN(6)]
	path := filepath.Join(m.dir, id)
	file := filepath.Join(path, sessiondir.Metadata)
	changes := []struct {
		name string
		do   func() error
	}{
		{"make", func() error {
			if err := os.MkdirAll(path, 0o700); err != nil {
				return err
			}
			return os.WriteFile(file, m.text(), 0o600)
		}},
		{"write", func() error { return os.WriteFile(file, m.text(), 0o600) }},
		{"write and put the time back", func() error { return m.sameTime(file, file) }},
		{"replace", func() error {
			if err := os.WriteFile(file+".tmp", m.text(), 0o600); err != nil {
				return err
			}
			return os.Rename(file+".tmp", file)
		}},
		{"replace with the old time", func() error {
			if err := m.sameTime(file, file+".tmp"); err != nil {
				return err
			}
			return os.Rename(file+".tmp", file)
		}},
		{"write backup", func() error { return os.WriteFile(sessiondir.Backup(file), m.text(), 0o600) }},
		{"swap with backup", func() error {
			if err := os.Rename(file, file+".tmp"); err != nil {
				return err
			}
			if err := os.Rename(sessiondir.Backup(file), file); err != nil {
				return err
			}
			return os.Rename(file+".tmp", sessiondir.Backup(file))
		}},
		{"damage", func() error { return os.WriteFile(file, []byte("{damaged"), 0o600) }},
		{"empty", func() error { return os.Truncate(file, 0) }},
		{"lengthen", func() error {
			return os.WriteFile(file, []byte(`{"n": "`+strings.Repeat("x", 1<<m.r.IntN(17))+`"}`), 0o600)
		}},
		{"remove file", func() error { return os.Remove(file) }},
		{"remove", func() error { return os.RemoveAll(path) }},
		{"rename", func() error { return os.Rename(path, filepath.Join(m.dir, "e")) }},
		{"rename back", func() error { return os.Rename(filepath.Join(m.dir, "e"), path) }},
		{"move and link", func() error { return m.link(path, filepath.Join(m.dir, fmt.Sprint("f", m.r.IntN(3)))) }},
		{"move outside and link", func() error { return m.link(path, fmt.Sprint(m.dir, "-", m.r.Uint32())) }},
		{"link file", func() error { return m.link(file, file+fmt.Sprint(m.r.IntN(3))) }},
		{"update", func() error {
			_, err := m.st.UpdateMetadata(m.t.Context(), id, func(md *Metadata) error { return md.Set("n", m.r.IntN(10)) })
			return err
		}},
		{"delete", func() error { return m.st.Delete(m.t.Context(), id) }},
		{"move all", func() error {
			if err := os.Rename(m.dir, m.dir+"-moved"); err != nil {
				return err
			}
			return os.CopyFS(m.dir, os.DirFS(m.dir+"-moved"))
		}},
		{"nothing", func() error { return nil }},
	}
	for range 1 + m.r.IntN(3) {
		change := changes[m.r.IntN(len(changes))]
		if err := change.do(); err == nil { // else there is no such session now
			m.log = append(m.log, change.name+" "+id)
		}
	}
	m.compare()
}

func (m *knownModel) text() []byte { return fmt.Appendf(nil, `{"n": %d}`, m.r.IntN(10)) }

// sameTime writes to and gives it the time of file.
func (m *knownModel) sameTime(file, to string) error {
	fi, err := os.Stat(file)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, m.text(), 0o600); err != nil {
		return err
	}
	return os.Chtimes(to, time.Time{}, fi.ModTime())
}

func (m *knownModel) link(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return os.Symlink(to, from)
}

func (m *knownModel) compare() {
	fresh, err := Open(m.dir, &Options{Now: m.st.opts.Now})
	require.NoError(m.t, err)
	defer func() { require.NoError(m.t, fresh.Close()) }()
	require.Equal(m.t, metadataOfAll(m.t, fresh), metadataOfAll(m.t, m.st))
}
