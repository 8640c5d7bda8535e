package sessionstore_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestModel makes random calls on two stores of one directory, with edits and
// damage by others between, and compares all that can be read with a map.
func TestModel(t *testing.T) {
	t.Parallel()
	n, steps := testenv.Seed(t), testenv.Share(100, 120, 250)
	for i := range uint64(4) {
		t.Run(fmt.Sprint("run=", i), func(t *testing.T) {
			t.Parallel()
			m := &model{t: t, r: rand.New(rand.NewPCG(n, i)), dir: t.TempDir(), sessions: map[string]*modelled{}}
			m.stores = []*sessionstore.Store{m.open(), m.open()}
			for range steps {
				m.step()
			}
			for _, st := range m.stores {
				require.NoError(t, st.Close())
			}
		})
	}
}

// model is what is stored, as far as the calls that were made tell.
type model struct {
	t        *testing.T
	r        *rand.Rand
	dir      string
	stores   []*sessionstore.Store
	sessions map[string]*modelled
	made     int // rows so far
	log      []string
}

type modelled struct {
	rows    []string
	members map[string]int // of the metadata, those named n and k
	name    string
}

var modelIDs = []string{"alpha-1", "alpha-2", "alpha-2_sub", "beta"}

func (m *model) open() *sessionstore.Store {
	d := []sessionstore.Durability{sessionstore.Durable, sessionstore.Relaxed}[m.r.IntN(2)]
	st, err := sessionstore.Open(m.dir, &sessionstore.Options{Durability: d, Portable: m.r.IntN(2) == 0})
	require.NoError(m.t, err)
	return st
}

// step makes one call, and compares.
func (m *model) step() {
	id := modelIDs[m.r.IntN(len(modelIDs))]
	i := m.r.IntN(len(m.stores))
	steps := []struct {
		name string
		do   func(st *sessionstore.Store, id string, s *modelled)
	}{
		{"append", m.append},
		{"append", m.append},
		{"append", m.append},
		{"save", m.save},
		{"save", m.save},
		{"create", m.create},
		{"replace", m.replace},
		{"conflict", m.conflict},
		{"update", m.update},
		{"name", m.setName},
		{"config", m.saveConfig},
		{"delete", m.delete},
		{"clean up", m.cleanup},
		{"find", m.find},
		{"foreign", m.foreign},
		{"damage", m.damage},
		{"damage metadata", m.damageMetadata},
	}
	step := steps[m.r.IntN(len(steps))]
	m.log = append(m.log, fmt.Sprint(step.name, " ", id, " by ", i))
	step.do(m.stores[i], id, m.sessions[id])
	m.compare(id)
	if m.r.IntN(20) == 0 {
		require.NoError(m.t, m.stores[i].Close())
		m.stores[i] = m.open()
		m.log = append(m.log, fmt.Sprint("reopen ", i))
		m.list()
		for _, id := range modelIDs {
			m.compare(id)
		}
	}
}

func (m *model) more(n int) []string {
	rows := make([]string, 1+m.r.IntN(n))
	for i := range rows {
		m.made++
		rows[i] = fmt.Sprintf(`{"role": "user", "content": "%d %s"}`, m.made, strings.Repeat("\u2028é", m.r.IntN(30)))
	}
	return rows
}

// session returns what is modelled under id, made when it is not.
func (m *model) session(id string) *modelled {
	s := m.sessions[id]
	if s == nil {
		s = &modelled{members: map[string]int{}}
		m.sessions[id] = s
	}
	return s
}

func (m *model) append(st *sessionstore.Store, id string, _ *modelled) {
	rows := m.more(3)
	require.NoError(m.t, st.Append(m.t.Context(), id, parse(m.t, rows...)...), m.last())
	s := m.session(id)
	s.rows = slices.Concat(s.rows, rows)
}

// changed returns rows that extend those, cut them or differ from them.
func (m *model) changed(rows []string) []string {
	switch at := m.r.IntN(len(rows) + 1); m.r.IntN(4) {
	case 0:
		rows = rows[:at:at]
	case 1:
		if at < len(rows) {
			rows = slices.Clone(rows)
			rows[at] = m.more(1)[0]
		}
	}
	if m.r.IntN(4) > 0 {
		rows = slices.Concat(rows, m.more(2))
	}
	return rows
}

func (m *model) save(st *sessionstore.Store, id string, s *modelled) {
	var md sessionstore.Metadata
	n := m.r.IntN(1000)
	require.NoError(m.t, md.Set("n", n))
	var rows []string
	all := []sessionstore.Message{}
	if s != nil {
		loaded, err := st.Load(m.t.Context(), id)
		require.NoError(m.t, err, m.last())
		rows = m.changed(s.rows)
		for i, row := range rows { // what was loaded is saved again where it is the same
			if i < len(s.rows) && row == s.rows[i] {
				all = append(all, loaded.Messages[i])
			} else {
				all = append(all, parse(m.t, row)...)
			}
		}
	}
	require.NoError(m.t, st.Save(m.t.Context(), id, all, md), m.last())
	s = m.session(id)
	s.rows, s.members["n"] = rows, n
}

func (m *model) create(st *sessionstore.Store, id string, s *modelled) {
	err := st.Create(m.t.Context(), id, metadata(m.t, `{"n": 1}`))
	if s != nil {
		require.ErrorIs(m.t, err, fs.ErrExist, m.last())
		return
	}
	require.NoError(m.t, err, m.last())
	m.session(id).members["n"] = 1
}

func (m *model) replace(st *sessionstore.Store, id string, s *modelled) {
	revision, err := st.Revision(m.t.Context(), id)
	if s == nil {
		require.ErrorIs(m.t, err, sessionstore.ErrNotFound, m.last())
		return
	}
	require.NoError(m.t, err, m.last())
	rows := m.changed(s.rows)
	now, err := st.Replace(m.t.Context(), id, revision, parse(m.t, rows...))
	require.NoError(m.t, err, m.last())
	require.Equal(m.t, len(rows), now.Messages, m.last())
	s.rows = rows
}

func (m *model) conflict(st *sessionstore.Store, id string, s *modelled) {
	if s == nil {
		return
	}
	revision, err := st.Revision(m.t.Context(), id)
	require.NoError(m.t, err, m.last())
	revision.Sum[m.r.IntN(16)]++
	_, err = st.Replace(m.t.Context(), id, revision, parse(m.t, m.more(1)...))
	require.ErrorIs(m.t, err, sessionstore.ErrConflict, m.last())
}

func (m *model) update(st *sessionstore.Store, id string, s *modelled) {
	name, n := []string{"n", "k"}[m.r.IntN(2)], m.r.IntN(1000)
	_, err := st.UpdateMetadata(m.t.Context(), id, func(md *sessionstore.Metadata) error {
		if n%4 == 0 {
			md.Delete(name)
			return nil
		}
		return md.Set(name, n)
	})
	switch {
	case s == nil:
		require.ErrorIs(m.t, err, sessionstore.ErrNotFound, m.last())
	case n%4 == 0:
		delete(s.members, name)
	default:
		s.members[name] = n
	}
	require.True(m.t, s == nil || err == nil, "%v %s", err, m.last())
}

func (m *model) setName(st *sessionstore.Store, id string, s *modelled) {
	name := fmt.Sprint("name ", m.r.IntN(5))
	_, _, err := st.SetName(m.t.Context(), id, sessionstore.Naming{Name: name, Source: "manual"})
	if s == nil {
		require.ErrorIs(m.t, err, sessionstore.ErrNotFound, m.last())
		return
	}
	require.NoError(m.t, err, m.last())
	s.name = name
}

func (m *model) saveConfig(st *sessionstore.Store, id string, s *modelled) {
	if s != nil {
		require.NoError(m.t, st.SaveConfig(m.t.Context(), id, metadata(m.t, `{"a": 1}`)), m.last())
		require.Equal(m.t, "---\na: 1\n---\n\nConfig snapshot for session "+id+"\n", read(m.t, m.dir, id, "config.md"))
	}
}

func (m *model) delete(st *sessionstore.Store, id string, s *modelled) {
	err := st.Delete(m.t.Context(), id)
	if s == nil {
		require.ErrorIs(m.t, err, sessionstore.ErrNotFound, m.last())
		return
	}
	require.NoError(m.t, err, m.last())
	delete(m.sessions, id)
}

func (m *model) cleanup(st *sessionstore.Store, id string, s *modelled) {
	want := 0
	if s != nil && m.r.IntN(2) == 0 {
		age(m.t, m.dir, id, time.Now().AddDate(0, 0, -40))
		delete(m.sessions, id)
		want = 1
	}
	n, err := st.Cleanup(m.t.Context(), sessionstore.DefaultCleanupDays)
	require.NoError(m.t, err, m.last())
	require.Equal(m.t, want, n, m.last())
}

func (m *model) find(st *sessionstore.Store, id string, s *modelled) {
	found, err := st.Find(m.t.Context(), id, &sessionstore.ListOptions{All: true})
	if s != nil {
		require.NoError(m.t, err, m.last())
		require.Equal(m.t, id, found, m.last())
	}
}

// foreign has the reference's older version add a row, or cut the last ones.
func (m *model) foreign(_ *sessionstore.Store, id string, s *modelled) {
	if s == nil {
		return
	}
	python := oldPython(filepath.Join(m.dir, id))
	rows := slices.Concat(s.rows, m.more(1))
	if len(s.rows) > 1 && m.r.IntN(2) == 0 {
		rows = s.rows[: 1+m.r.IntN(len(s.rows)-1) : len(s.rows)]
	}
	require.NoError(m.t, python.replace(transcriptFile, fileOf(rows)))
	s.rows = rows
}

// damage tears the transcript; what the reference then reads of the backup is
// what is left.
func (m *model) damage(_ *sessionstore.Store, id string, s *modelled) {
	backup, err := os.ReadFile(filepath.Join(m.dir, id, transcriptBackup))
	if rows, ok := pythonRows(backup); s != nil && err == nil && ok {
		require.NoError(m.t, addToFile(filepath.Join(m.dir, id, transcriptFile), `{"rol`))
		s.rows = rows
	}
}

func (m *model) damageMetadata(_ *sessionstore.Store, id string, s *modelled) {
	backup, err := os.ReadFile(filepath.Join(m.dir, id, metadataBackup))
	var md struct {
		N, K *int
		Name string
	}
	if s == nil || err != nil || json.Unmarshal(backup, &md) != nil {
		return
	}
	require.NoError(m.t, addToFile(filepath.Join(m.dir, id, metadataFile), `}`))
	s.members, s.name = map[string]int{}, md.Name
	for name, n := range map[string]*int{"n": md.N, "k": md.K} {
		if n != nil {
			s.members[name] = *n
		}
	}
}

func addToFile(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// last tells what was done last.
func (m *model) last() string { return strings.Join(m.log[max(0, len(m.log)-12):], "; ") }

// compare requires every way of reading session id to give what is modelled.
func (m *model) compare(id string) {
	m.t.Helper()
	s := m.sessions[id]
	for i, st := range m.stores {
		loaded, err := st.Load(m.t.Context(), id)
		require.Equal(m.t, s != nil, st.Exists(id), m.last())
		if s == nil {
			require.ErrorIs(m.t, err, sessionstore.ErrNotFound, m.last())
			continue
		}
		require.NoError(m.t, err, m.last())
		require.True(m.t, slices.Equal(s.rows, lines(loaded.Messages)), "store %d has %q, not %q: %s", i, lines(loaded.Messages), s.rows, m.last())
		require.Equal(m.t, len(s.rows), loaded.Revision.Messages, m.last())
		m.compareMetadata(s, loaded.Metadata)
		streamed := []string{}
		for row, err := range st.Messages(m.t.Context(), id) {
			require.NoError(m.t, err, m.last())
			streamed = append(streamed, string(row.AppendTo(nil)))
		}
		require.True(m.t, slices.Equal(s.rows, streamed), "messages of store %d: %s", i, m.last())
	}
	if s != nil {
		rows, err := newPython(filepath.Join(m.dir, id)).load()
		require.NoError(m.t, err, m.last())
		require.True(m.t, slices.Equal(s.rows, rows), "Python reads %q, not %q: %s", rows, s.rows, m.last())
	}
}

func (m *model) compareMetadata(s *modelled, md sessionstore.Metadata) {
	m.t.Helper()
	have := map[string]int{}
	for _, name := range []string{"n", "k"} {
		if n, ok := md.Int(name); ok {
			have[name] = n
		}
	}
	require.Equal(m.t, s.members, have, m.last())
	require.Equal(m.t, s.name, md.Text("name"), m.last())
}

func (m *model) list() {
	for _, st := range m.stores {
		infos, err := st.List(m.t.Context(), &sessionstore.ListOptions{All: true})
		require.NoError(m.t, err, m.last())
		found := ids(infos)
		slices.Sort(found)
		require.True(m.t, slices.Equal(slices.Sorted(maps.Keys(m.sessions)), found), m.last())
	}
}
