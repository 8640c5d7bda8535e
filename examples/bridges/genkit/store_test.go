package genkit

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/firebase/genkit/go/core/x/session"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

type trip struct {
	City   string         `json:"city"`
	Days   int            `json:"days"`
	APIKey string         `json:"api_key,omitempty"`
	Seen   map[string]int `json:"seen,omitempty"`
}

func open(t *testing.T, dir string) *sessionstore.Store {
	st, err := sessionstore.Open(dir, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return st
}

// A session of Genkit goes on in another process.
func TestSessionGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := session.New(t.Context(), session.WithStore(New[trip](open(t, dir))), session.WithInitialState(trip{City: "Zürich"}))
	require.NoError(t, err)
	want := trip{"Bern <BE>", 2, "not redacted", map[string]int{"a": 1}}
	require.NoError(t, first.UpdateState(t.Context(), want))

	again, err := session.Load(t.Context(), New[trip](open(t, dir)), first.ID())
	require.NoError(t, err)
	require.Equal(t, first.ID(), again.ID())
	require.Equal(t, want, again.State())
	require.FileExists(t, filepath.Join(dir, first.ID(), "state.json"))
	infos, err := open(t, dir).List(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, infos, 1)
}

// The state and the transcript of a session stand side by side.
func TestStateStandsBesideTheTranscript(t *testing.T) {
	t.Parallel()
	st := open(t, t.TempDir())
	id := sessionstore.NewID()
	states := New[trip](st)
	m, err := sessionstore.Text("user", "hi", time.Now())
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), id, m))
	_, err = session.Load(t.Context(), states, id)
	require.ErrorAs(t, err, new(*session.NotFoundError))

	_, err = session.New(t.Context(), session.WithStore(states), session.WithID[trip](id))
	require.NoError(t, err)
	s, err := st.Load(t.Context(), id)
	require.NoError(t, err)
	require.Len(t, s.Messages, 1)
	require.NoError(t, st.Delete(t.Context(), id))
	data, err := states.Get(t.Context(), id)
	require.NoError(t, err)
	require.Nil(t, data)
}

// The store does what session.InMemoryStore does.
func TestSameAsInMemory(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]session.Store[trip]{"memory": session.NewInMemoryStore[trip](), "disk": New[trip](open(t, t.TempDir()))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := s.Get(t.Context(), "a")
			require.NoError(t, err)
			require.Nil(t, data)
			given := &session.Data[trip]{ID: "a", State: trip{Seen: map[string]int{"x": 1}}}
			require.NoError(t, s.Save(t.Context(), "a", given))
			given.State.Seen["x"] = 2
			got, err := s.Get(t.Context(), "a")
			require.NoError(t, err)
			require.Equal(t, &session.Data[trip]{ID: "a", State: trip{Seen: map[string]int{"x": 1}}}, got)
			got.State.Seen["x"] = 3
			got, err = s.Get(t.Context(), "a")
			require.NoError(t, err)
			require.Equal(t, 1, got.State.Seen["x"])
			require.NoError(t, s.Save(t.Context(), "a", &session.Data[trip]{ID: "a"}))
			got, err = s.Get(t.Context(), "a")
			require.NoError(t, err)
			require.Equal(t, &session.Data[trip]{ID: "a"}, got)
		})
	}
}

func TestManyGoroutines(t *testing.T) {
	t.Parallel()
	s := New[trip](open(t, t.TempDir()))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			id := fmt.Sprint("session-", i%2)
			if err := s.Save(t.Context(), id, &session.Data[trip]{ID: id, State: trip{Days: i}}); err != nil {
				t.Error(err)
			}
			if data, err := s.Get(t.Context(), id); err != nil || data == nil || data.State.Days%2 != i%2 {
				t.Errorf("%s: %v, %v", id, data, err)
			}
		})
	}
	all.Wait()
}

func TestRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := open(t, dir)
	s := New[trip](st)
	require.ErrorContains(t, s.Save(t.Context(), "a", nil), "no state")
	require.ErrorIs(t, s.Save(t.Context(), "../a", &session.Data[trip]{}), sessionstore.ErrInvalidID)
	require.ErrorContains(t, New[chan int](st).Save(t.Context(), "a", &session.Data[chan int]{State: make(chan int)}), "encode state")
	require.False(t, st.Exists("a"))

	require.NoError(t, s.Save(t.Context(), "a", &session.Data[trip]{State: trip{City: "secret"}}))
	_, err := New[int](st).Get(t.Context(), "a")
	require.ErrorContains(t, err, "not what int holds")
	require.NotContains(t, err.Error(), "secret")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a", "state.json"), []byte(`{"v": 9}`), 0o600))
	_, err = s.Get(t.Context(), "a")
	require.Error(t, err)
}
