package sessionstore

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAppendStored has each message at the number that it was told, beside other calls.
func TestAppendStored(t *testing.T) {
	t.Parallel()
	st, err := Open(t.TempDir(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	other, err := Open(st.Dir(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, other.Close()) })
	row := func(text string) Message {
		return newMessage([]byte(`{"role": "user", "content": "` + text + `"}`))
	}
	var told sync.Map
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for n := range 10 {
				a, b := row(fmt.Sprint(w, "a", n)), row(fmt.Sprint(w, "b", n))
				system := newMessage([]byte(`{"role": "system", "content": "x"}`))
				numbers, err := []*Store{st, other}[w%2].AppendStored(t.Context(), "s", a, system, b)
				if err != nil || len(numbers) != 3 || numbers[1] != 0 {
					t.Error(numbers, err)
					return
				}
				told.Store(numbers[0], a.Content())
				told.Store(numbers[2], b.Content())
			}
		})
	}
	all.Wait()
	s, err := st.Load(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, s.Messages, 160)
	for i, m := range s.Messages {
		content, _ := told.Load(i + 1)
		require.Equal(t, m.Content(), content, i+1)
	}

	numbers, err := st.AppendStored(t.Context(), "s")
	require.NoError(t, err)
	require.Empty(t, numbers)
	_, err = st.AppendStored(t.Context(), "s", row("x"), Message{})
	require.ErrorIs(t, err, ErrUnstorable)
	numbers, err = st.AppendStored(t.Context(), "s", row("x"))
	require.NoError(t, err)
	require.Equal(t, []int{161}, numbers)
}
