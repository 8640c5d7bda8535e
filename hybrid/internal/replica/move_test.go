package replica

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// TestStateMoves loads a state with another remote, which has the same head, another one, or
// none.
func TestStateMoves(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func() (*vfs.Dir, error) {
		root, err := os.OpenRoot(dir)
		return vfs.New(root, nil), err
	}
	in := func(remote string) *States {
		s := NewStates(open, "place", "a")
		s.Remote = remote
		return s
	}
	write := func(revision int64, deleted bool) (*head.Head, remoteread.Known) {
		h := &head.Head{SID: "sid", Session: "s", Revision: revision, Born: "born", Deleted: deleted}
		doc, err := h.Encode()
		require.NoError(t, err)
		return h, remoteread.Known{Version: "1", Doc: doc.Body}
	}
	same, known := write(3, false)
	later, knownLater := write(4, false)
	_, knownDead := write(5, true)
	save := func(known remoteread.Known) {
		st := in("one").Load("sid", "s")
		st.Born, st.Head, st.Base = "born", known, &segment.Point{N: 1}
		require.NoError(t, in("one").Save("sid", st))
	}
	save(known)
	st := in("one").Load("sid", "s")
	require.Equal(t, known, st.Head)
	require.True(t, st.See("sid", nil, remoteread.Known{}), "it vanished")

	st = in("two").Load("sid", "s")
	require.Empty(t, st.Head)
	require.False(t, st.See("sid", nil, remoteread.Known{}))
	require.Nil(t, st.Base)
	st = in("two").Load("sid", "s")
	require.False(t, st.See("sid", same, known))
	require.NotNil(t, st.Base, "the same remote under another address, or a copy")
	st = in("two").Load("sid", "s")
	require.False(t, st.See("sid", later, knownLater))
	require.Nil(t, st.Base)
	require.NoError(t, in("two").Save("sid", st))
	require.Equal(t, knownLater, in("two").Load("sid", "s").Head)

	save(knownDead)
	st = in("three").Load("sid", "s")
	require.Equal(t, knownDead.Doc, st.Head.Doc)
	require.Empty(t, st.Head.Version)
	require.False(t, st.See("sid", nil, remoteread.Known{}))
	require.True(t, st.Head.Head("sid").Deleted)
}
