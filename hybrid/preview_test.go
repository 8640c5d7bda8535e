package hybrid

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// preview previews a session on a device that need not have it.
func (r *testDevice) preview(id string) Preview {
	r.t.Helper()
	p, err := r.Preview(context.Background(), id)
	require.NoError(r.t, err)
	return p
}

// requireTold checks that a preview of a session on another device shows the end of what it is
// here, and returns how many messages.
func (r *testDevice) requireTold(by *testDevice, id string) int {
	r.t.Helper()
	s, err := r.Load(context.Background(), id)
	require.NoError(r.t, err)
	p := by.preview(id)
	require.Equal(r.t, len(s.Messages), p.Count)
	require.NotEmpty(r.t, p.Messages)
	for i, m := range s.Messages[len(s.Messages)-len(p.Messages):] {
		require.Equal(r.t, string(m.AppendTo(nil)), string(p.Messages[i].AppendTo(nil)))
	}
	return len(p.Messages)
}

// dated appends turns at times of their own: a question, a call, its result and
// an answer.
func (r *testDevice) dated(id string, turns int, text string) {
	r.t.Helper()
	for i := range turns {
		for k, role := range []string{"user", "assistant", "tool", "assistant"} {
			m, err := sessionstore.Text(role, text, time.Date(2026, 11, 20, 10, i, 7*k, 123e6, time.UTC))
			require.NoError(r.t, err)
			require.NoError(r.t, r.Append(context.Background(), id, m))
		}
		r.sync(id)
	}
}

// TestPreview previews a session that is only in the cloud, on both backends, and
// after each thing that changes its segments.
func TestPreview(t *testing.T) {
	t.Parallel()
	c, box := newCloud(t, nil), &memremote.Remote{}
	for name, devices := range map[string][2]*testDevice{
		"server": {c.device(t, "a"), c.device(t, "b")},
		"memory": {inMemory(t, box, "a"), inMemory(t, box, "b")},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := devices[0], devices[1]
			a.dated("s", 10, "text")
			ctx := t.Context()
			_, _, err := a.SetName(ctx, "s", sessionstore.Naming{Name: "Fix login", Description: "Why it fails", Source: "manual"})
			require.NoError(t, err)
			a.sync("s")
			got := b.preview("s")
			require.Equal(t, "s", got.SessionID)
			require.Equal(t, "Fix login", got.Name)
			require.Equal(t, "Why it fails", got.Description)
			require.Equal(t, 10, got.Turns)
			require.Equal(t, 4, a.requireTold(b, "s"), "what the last sync sent")
			require.False(t, got.Updated.IsZero())
			require.False(t, b.Exists("s"), "nothing came here")

			a.cutTo("s", 21)
			a.sync("s")
			require.Equal(t, 1, a.requireTold(b, "s"), "a part of a segment counts")
			a.say("f", "x")
			a.put("f", "transcript.jsonl", a.file("s", "transcript.jsonl"))
			_, err = a.UpdateMetadata(ctx, "f", func(md *sessionstore.Metadata) error { return md.Set("parent_id", "s") })
			require.NoError(t, err)
			a.say("f", "on its own")
			require.Equal(t, 1, a.sync("f").Segments)
			require.Equal(t, 22, a.requireTold(b, "f"))
			require.Equal(t, 7, b.preview("f").Turns)
			a.prune(atOnceOf(), "s")
			a.requireTold(b, "s")
			require.NoError(t, a.Create(ctx, "empty", sessionstore.Metadata{}))
			a.sync("empty")
			require.Empty(t, b.preview("empty").Messages)

			_, err = b.Preview(ctx, "nobody")
			require.ErrorIs(t, err, sessionstore.ErrNotFound)
			require.NotContains(t, err.Error(), "file ")
			require.NoError(t, a.Remove(ctx, "f"))
			_, err = b.Preview(ctx, "f")
			require.ErrorIs(t, err, ErrRemoved)
		})
	}
}

// TestCostOfAPreview counts requests, units and the bytes of answers.
func TestCostOfAPreview(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	const turns = 20
	a.dated("s", turns, noise(4000))
	c.ResetCounters()
	require.Equal(t, 4*turns, b.preview("s").Count)
	n := c.Counters()
	t.Logf("%d requests, %.1f units, %d bytes read", n.Total.Requests, n.Total.Charge, n.Total.Sent)
	require.Equal(t, 3, n.Total.Requests, "the head, a list of one segment, and the segment")
	require.Less(t, n.Total.Charge, 15.0)
	require.Less(t, n.Total.Sent, int64(32<<10), "of a session of 320 KB")
	preview := n.Total.Charge
	c.ResetCounters()
	b.pull("s")
	require.Less(t, 2*preview, c.Counters().Total.Charge, "less than half of what all of it costs")
}

// TestPreviewOfALongLine fetches no last line of more than 8 MB.
func TestPreviewOfALongLine(t *testing.T) {
	t.Parallel()
	box := &memremote.Remote{}
	a, b := inMemory(t, box, "a"), inMemory(t, box, "b")
	a.say("s", "one", strings.Repeat("x", 9<<20))
	a.sync("s")
	got := b.preview("s")
	require.Equal(t, 2, got.Count)
	require.Empty(t, got.Messages)
}

// TestPreviewWhenThingsFail tells why a preview is not there, and what is known.
func TestPreviewWhenThingsFail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, previewWhenThingsFail)
}

func previewWhenThingsFail(t *testing.T) {
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.dated("s", 3, "text")
	require.Equal(t, 3, c.harm(t, true, func(d cosmostest.Doc) bool { return strings.Contains(d.ID, "-t-") }))
	got, err := b.Preview(t.Context(), "s")
	require.ErrorIs(t, err, ErrDamaged)
	require.Equal(t, 3, got.Turns)
	require.Empty(t, got.Messages)

	c.Inject(func(cosmostest.Request) cosmostest.Fault { return cosmostest.Drop() })
	_, err = b.Preview(t.Context(), "s")
	require.ErrorIs(t, err, ErrUnreachable)
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, [2]string{"preview", "s"}, [2]string{e.Op, e.Session})
	c.Inject(nil)

	local, err := Open(t.Context(), filepath.Join(t.TempDir(), "sessions"), nil)
	require.NoError(t, err)
	t.Cleanup(func() { requireClosed(t, local) })
	_, err = local.Preview(t.Context(), "s")
	require.ErrorIs(t, err, ErrNoRemote)
}
