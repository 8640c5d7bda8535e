package sessionstore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestOneSessionManyWriters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var mu sync.Mutex
	notified := 0
	st := open(t, dir, &sessionstore.Options{Durability: sessionstore.Relaxed, OnChange: func(sessionstore.Change) {
		mu.Lock()
		defer mu.Unlock()
		notified++
	}})
	require.NoError(t, st.Save(t.Context(), "s", nil, metadata(t, `{"n": 0}`)))
	const writers, each = 8, 10
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				_, err := st.UpdateMetadata(t.Context(), "s", func(md *sessionstore.Metadata) error {
					n, _ := md.Int("n")
					return md.Set("n", n+1)
				})
				assertNoError(t, err)
				assertNoError(t, st.Save(t.Context(), "s", parse(t, user(fmt.Sprint("writer ", w)), user(fmt.Sprint(i))), sessionstore.Metadata{}))
				s, err := st.Load(t.Context(), "s")
				assertNoError(t, err)
				if len(s.Messages) != 2 {
					t.Errorf("%d messages, not 2", len(s.Messages))
				}
			}
		})
	}
	wg.Wait()
	md, err := st.Metadata(t.Context(), "s")
	require.NoError(t, err)
	n, _ := md.Int("n")
	require.Equal(testenv.Lost(t), writers*each, n, "no update is lost")
	require.GreaterOrEqual(t, notified, 2*writers*each)
}

func assertNoError(t *testing.T, err error) {
	if err != nil {
		t.Error(err)
	}
}

func TestManySessions(t *testing.T) {
	t.Parallel()
	st := open(t, t.TempDir(), &sessionstore.Options{Durability: sessionstore.Relaxed})
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			id := fmt.Sprint("s", w)
			for i := range 5 {
				assertNoError(t, st.Save(t.Context(), id, parse(t, user(fmt.Sprint(i))), sessionstore.Metadata{}))
				_, err := st.List(t.Context(), nil)
				assertNoError(t, err)
				_, err = st.Load(t.Context(), id)
				assertNoError(t, err)
				assertNoError(t, st.Delete(t.Context(), id))
			}
		})
	}
	wg.Wait()
	infos, err := st.List(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, infos)
}

// TestReadersSeeWholeFiles reads what another process would while a session
// is saved again and again.
func TestReadersSeeWholeFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := open(t, dir, &sessionstore.Options{Durability: sessionstore.Relaxed})
	require.NoError(t, st.Save(t.Context(), "s", parse(t, user("0")), sessionstore.Metadata{}))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(stop)
		for i := range 100 {
			rows := []string{user("0")}
			for j := range i % 7 {
				rows = append(rows, user(strings.Repeat("x", 1000*j)))
			}
			assertNoError(t, st.Save(t.Context(), "s", parse(t, rows...), sessionstore.Metadata{}))
		}
	})
	for done := false; !done; {
		select {
		case <-stop:
			done = true
		default:
		}
		data, err := os.ReadFile(filepath.Join(dir, "s", transcriptFile))
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(data), user("0")+"\n") && strings.HasSuffix(string(data), "}\n"), "a torn file")
	}
	wg.Wait()
}

func TestOnChange(t *testing.T) {
	t.Parallel()
	var changes []sessionstore.Change
	st := open(t, t.TempDir(), &sessionstore.Options{OnChange: func(c sessionstore.Change) { changes = append(changes, c) }})
	ctx := t.Context()
	wrote := func(file string) sessionstore.Change { return sessionstore.Change{ID: "s", File: file} }
	steps := []struct {
		name string
		do   func() error
		want []sessionstore.Change
	}{
		{
			"save", func() error { return st.Save(ctx, "s", parse(t, user("1")), sessionstore.Metadata{}) },
			[]sessionstore.Change{wrote(transcriptFile), wrote(metadataFile)},
		},
		{"update", func() error {
			_, err := st.UpdateMetadata(ctx, "s", func(md *sessionstore.Metadata) error { return md.Set("n", 1) })
			return err
		}, []sessionstore.Change{wrote(metadataFile)}},
		{"update to the same", func() error {
			_, err := st.UpdateMetadata(ctx, "s", func(md *sessionstore.Metadata) error { return md.Set("n", 1) })
			return err
		}, nil},
		{"config", func() error { return st.SaveConfig(ctx, "s", sessionstore.Metadata{}) }, []sessionstore.Change{wrote("config.md")}},
		{"load", func() error { _, err := st.Load(ctx, "s"); return err }, nil},
		{"delete", func() error { return st.Delete(ctx, "s") }, []sessionstore.Change{{ID: "s", Op: sessionstore.Removed}}},
	}
	for _, step := range steps {
		changes = nil
		require.NoError(t, step.do(), step.name)
		require.Equal(t, step.want, changes, step.name)
	}
	changes = nil
	require.Error(t, st.Save(ctx, "", nil, sessionstore.Metadata{}))
	require.True(t, errors.Is(st.Delete(ctx, "none"), sessionstore.ErrNotFound))
	require.Empty(t, changes, "what failed is no change")
}
