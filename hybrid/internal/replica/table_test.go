package replica_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// table opens a table in a directory, as a process of its own does.
func table(dir, identity string) *replica.Table {
	return replica.New(func() (*vfs.Dir, error) {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, err
		}
		return vfs.New(root, nil), nil
	}, identity)
}

func entry(n int, revision int64, round int) replica.Entry {
	return replica.Entry{SID: fmt.Sprint("sid", n), Session: fmt.Sprint("s", n), Revision: revision, Updated: int64(n), Round: round}
}

func session(n int, revision int64) replica.Session {
	return replica.Session{ID: fmt.Sprint("s", n), Revision: revision, N: 7, Stat: replica.Stat{Dir: 1 << 63, Sure: true}}
}

// file returns the path of the one file of a table in a directory.
func file(t *testing.T, dir string) string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, replica.Prefix+"????????????????"))
	require.NoError(t, err)
	require.Len(t, all, 1)
	return all[0]
}

func TestTableOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one := table(dir, "x")
	one.Put(session(1, 3))
	one.Put(session(2, 4))
	one.Advance([]replica.Entry{entry(1, 3, 1), entry(2, 4, 1)}, replica.Cursor{Round: 1, Since: 10, Whole: true})
	require.NoError(t, one.Save(t.Context()))
	two := table(dir, "x")
	s, ok := two.Session("s2")
	require.True(t, ok)
	require.Equal(t, session(2, 4), s)
	require.Equal(t, replica.Cursor{Round: 1, Since: 10, Whole: true}, two.Cursor())
	e, ok := two.Entry("sid1")
	require.True(t, ok)
	require.Equal(t, entry(1, 3, 1), e)

	two.Reopen("s2")
	two.Reopen("none")
	require.NoError(t, two.Save(t.Context()))
	three := table(dir, "x")
	s, _ = three.Session("s2")
	require.Equal(t, replica.Open, s.State)
	_, ok = three.Session("none")
	require.False(t, ok)
	three.Void()
	require.NoError(t, three.Save(t.Context()))
	four := table(dir, "x")
	require.Empty(t, four.Sessions())
	require.Zero(t, four.Cursor())
}

// TestIdentity has two programs with other rules in one directory.
func TestIdentity(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range 2 {
		for i, identity := range []string{"x", "y"} {
			own := table(dir, identity)
			own.Put(session(i, 1))
			require.NoError(t, own.Save(t.Context()))
			require.Len(t, table(dir, identity).Sessions(), 1)
		}
	}
}

// TestOldEntriesAreForgotten reads a catalogue that lost an entry.
func TestOldEntriesAreForgotten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own := table(dir, "x")
	own.Advance([]replica.Entry{entry(1, 1, 1), entry(2, 1, 1)}, replica.Cursor{Round: 1, Whole: true})
	for round := 2; round < 4; round++ {
		own.Advance(nil, replica.Cursor{Round: round})
		own.Advance([]replica.Entry{entry(2, 1, round)}, replica.Cursor{Round: round, Whole: true})
	}
	require.NoError(t, own.Save(t.Context()))
	for _, of := range []*replica.Table{own, table(dir, "x")} {
		_, ok := of.Entry("sid1")
		require.False(t, ok)
		_, ok = of.Entry("sid2")
		require.True(t, ok)
	}
}

// TestSizeIsBounded changes one session again and again.
func TestSizeIsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 1200 {
		own := table(dir, "x")
		own.Put(session(i%3, int64(i)))
		require.NoError(t, own.Save(t.Context()))
	}
	fi, err := os.Stat(file(t, dir))
	require.NoError(t, err)
	require.Less(t, fi.Size(), int64(1<<20))
	own := table(dir, "x")
	require.Len(t, own.Sessions(), 3)
	s, _ := own.Session("s2")
	require.EqualValues(t, 1199, s.Revision)
}

// TestNothingNew: a Save without a change writes nothing, and the file of many sessions is small.
func TestNothingNew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own := table(dir, "x")
	for i := range 10_000 {
		own.Put(session(i, 1))
	}
	require.NoError(t, own.Save(t.Context()))
	before, err := os.Stat(file(t, dir))
	require.NoError(t, err)
	require.Less(t, before.Size(), int64(10_000*400))
	own.Reopen("s5")
	own.Put(session(5, 1))
	require.NoError(t, own.Save(t.Context()))
	after, err := os.Stat(file(t, dir))
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after))
}

// TestVoidReachesOthers: what one process forgets because the catalogue is another one, no other
// process brings back.
func TestVoidReachesOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one := table(dir, "x")
	one.Put(session(1, 1))
	one.Advance([]replica.Entry{entry(1, 1, 1)}, replica.Cursor{Round: 1, Since: 10, Whole: true})
	require.NoError(t, one.Save(t.Context()))
	two := table(dir, "x")
	two.Put(session(2, 1))
	one.Void()
	one.Put(session(3, 1))
	require.NoError(t, one.Save(t.Context()))
	require.NoError(t, two.Save(t.Context()))
	for _, of := range []*replica.Table{one, two, table(dir, "x")} {
		require.Equal(t, map[string]replica.Session{"s3": session(3, 1)}, of.Sessions())
		require.Zero(t, of.Cursor())
	}
	three := table(dir, "x")
	two.Put(session(4, 1))
	require.NoError(t, two.Save(t.Context()))
	three.Void()
	require.NoError(t, three.Save(t.Context()))
	require.Empty(t, table(dir, "x").Sessions())
}

// TestJournal takes over a file of the former name, to which changes were appended. It stays as it
// is, and what its programs append later undoes nothing, also when the other file is damaged.
func TestJournal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text, err := os.ReadFile(filepath.Join("testdata", "journal"))
	require.NoError(t, err)
	own := table(dir, "x")
	own.Put(session(9, 9))
	require.NoError(t, own.Save(t.Context()))
	path := file(t, dir)
	require.NoError(t, os.Remove(path))
	old := strings.Replace(path, replica.Prefix, "replica-", 1)
	require.NoError(t, os.WriteFile(old, text, 0o600))
	begun := table(dir, "x")
	require.NotEmpty(t, begun.Sessions())
	for _, more := range []*replica.Table{table(dir, "x"), begun, table(dir, "x")} {
		more.Put(session(5, 1))
		require.NoError(t, more.Save(t.Context()))
		require.NotContains(t, more.Sessions(), "s1")
		require.Equal(t, session(4, 5), more.Sessions()["s4"])
		require.Equal(t, replica.Open, more.Sessions()["s3"].State)
		e, _ := more.Entry("sid2")
		require.Equal(t, entry(2, 6, 2).Revision, e.Revision)
		require.Equal(t, replica.Cursor{Round: 2, Since: 12}, more.Cursor())
		text = append(text, text[bytes.IndexByte(text, '\n')+1:]...)
		require.NoError(t, os.WriteFile(old, text, 0o600))
		more.Put(session(3, 8))
		more.Reopen("s3")
		require.NoError(t, more.Save(t.Context()))
	}
	after, err := os.ReadFile(old)
	require.NoError(t, err)
	require.Equal(testenv.Lost(t), text, after)
	require.NoError(t, os.WriteFile(file(t, dir), []byte("damaged"), 0o600))
	require.Empty(t, table(dir, "x").Sessions())
}

// TestDamagedFile cuts and damages the file at random. What is read is what was
// there after some Save.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	r := testenv.Rand(t)
	for range 60 {
		dir := t.TempDir()
		own := table(dir, "x")
		for i := range 5 {
			own.Put(session(i, 1))
			own.Advance([]replica.Entry{entry(i, int64(i+1), 1)}, replica.Cursor{Round: 1, Since: int64(i + 1)})
			require.NoError(t, own.Save(t.Context()))
		}
		path := file(t, dir)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		at := r.IntN(len(data))
		switch r.IntN(4) {
		case 0:
			data = data[:at]
		case 1:
			data[at] ^= 1 << r.IntN(8)
		case 2:
			data = append(data[:at:at], make([]byte, len(data)-at)...)
		case 3:
			data = bytes.Repeat([]byte{byte(r.IntN(256))}, at)
		}
		require.NoError(t, os.WriteFile(path, data, 0o600))
		late := table(dir, "x")
		known := late.Cursor().Since
		for i := range known {
			_, ok := late.Entry(fmt.Sprint("sid", i))
			require.True(t, ok, "the cursor stands at %d", known)
		}
		late.Put(session(9, 9))
		require.NoError(t, late.Save(t.Context()))
		s, ok := table(dir, "x").Session("s9")
		require.True(t, ok)
		require.Equal(t, session(9, 9), s)
		own.Put(session(8, 8)) // it still knows all
		require.NoError(t, own.Save(t.Context()))
		last := table(dir, "x")
		for _, id := range []string{"s0", "s4", "s8", "s9"} {
			_, ok := last.Session(id)
			require.True(t, ok, id)
		}
	}
}

// catalogue is what a cursor goes through: entry n was written last at its time.
type catalogue map[int]int64

// TestManyProcesses lets processes begin, read a catalogue that grows, save, and
// be killed, while the file is written anew, damaged and removed. The cursor never
// stands behind an entry that the table lacks.
func TestManyProcesses(t *testing.T) {
	t.Parallel()
	r := testenv.Rand(t)
	for range 6 {
		manyProcesses(t, r)
	}
}

func manyProcesses(t *testing.T, r *rand.Rand) {
	dir, there, clock := t.TempDir(), catalogue{}, int64(0)
	processes := []*replica.Table{table(dir, "x"), table(dir, "x"), table(dir, "x")}
	check := func(of *replica.Table) {
		for n, revision := range there {
			e, _ := of.Entry(fmt.Sprint("sid", n))
			require.False(t, of.Cursor().Since > revision && e.Revision < revision, "entry %d of revision %d is not known", n, revision)
		}
	}
	for range 300 {
		own := &processes[r.IntN(len(processes))]
		switch r.IntN(8) {
		case 0, 1:
			clock++
			there[r.IntN(8)] = clock // its time is its revision
		case 2, 3: // reads what was written since
			at := (*own).Cursor()
			var found []replica.Entry
			for n, revision := range there {
				if revision >= at.Since {
					found = append(found, entry(n, revision, 1))
				}
			}
			(*own).Advance(found, replica.Cursor{Round: 1, Since: clock + 1, Whole: true})
		case 4, 5:
			(*own).Put(session(r.IntN(8), clock))
			require.NoError(t, (*own).Save(t.Context()))
		case 6:
			*own = table(dir, "x")
		case 7:
			if r.IntN(4) == 0 {
				spoil(t, r, dir)
			}
		}
		check(*own)
		check(table(dir, "x"))
	}
}

// spoil damages or removes the file.
func spoil(t *testing.T, r *rand.Rand, dir string) {
	all, err := filepath.Glob(filepath.Join(dir, replica.Prefix+"????????????????"))
	require.NoError(t, err)
	for _, path := range all {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		if r.IntN(2) == 0 {
			require.NoError(t, os.Remove(path))
		} else {
			require.NoError(t, os.WriteFile(path, data[:r.IntN(len(data)+1)], 0o600))
		}
	}
}

func TestNothingCanBeSaved(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "none")
	own := table(dir, "x")
	for i := range 5000 {
		own.Put(session(i%2, int64(i)))
	}
	require.Error(t, own.Save(t.Context()))
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, own.Save(t.Context()))
	require.Len(t, table(dir, "x").Sessions(), 2)
}

func TestSumTellsStampsApart(t *testing.T) {
	t.Parallel()
	at := time.Unix(1700000000, 5)
	all := []vfs.Stamp{
		{}, {Dev: 1}, {Inode: 1}, {Size: 1}, {Mtime: at}, {Ctime: at}, {Mtime: at.Add(1)}, {Mtime: at, Ctime: at},
	}
	seen := map[replica.Sum]bool{}
	for _, s := range all {
		sum := replica.SumOf(s)
		require.NotZero(t, sum)
		require.False(t, seen[sum])
		seen[sum] = true
	}
}

// TestBothProcessesPut: a session that two processes put in other states needs a sync, whichever
// saves last; one that a single process put, or both alike, does not.
func TestBothProcessesPut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	begun := table(dir, "x")
	for n := range 4 {
		begun.Put(session(n, 1))
	}
	require.NoError(t, begun.Save(t.Context()))
	one, two := table(dir, "x"), table(dir, "x")
	require.Len(t, two.Sessions(), 4)
	removed := replica.Session{ID: "s1", State: replica.Deleted, Revision: 3}
	one.Put(removed)
	one.Put(session(2, 5))
	one.Put(session(4, 1))
	require.NoError(t, one.Save(t.Context()))
	two.Put(session(1, 2))
	two.Put(session(2, 5))
	two.Put(session(3, 2))
	two.Put(session(4, 2))
	require.NoError(t, two.Save(t.Context()))
	for _, of := range []*replica.Table{two, table(dir, "x")} {
		require.Equal(testenv.Lost(t), map[string]replica.Session{
			"s0": session(0, 1), "s1": {ID: "s1", State: replica.Open}, "s2": session(2, 5), "s3": session(3, 2), "s4": {ID: "s4", State: replica.Open},
		}, of.Sessions())
	}
}
