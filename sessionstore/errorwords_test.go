package sessionstore_test

import (
	"context"
	"io"
	"io/fs"
	"testing"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive"
	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
	"github.com/amplifier-go/sessionstorage/slice"
)

// Where no file is meant, an error does not speak of one: package fs has the kinds of
// errors, and not their texts.
func TestErrorsSpeakOfNoFile(t *testing.T) {
	t.Parallel()
	st := open(t, t.TempDir(), &sessionstore.Options{Durability: sessionstore.Relaxed})
	require.NoError(t, st.Append(t.Context(), "s", parse(t, user("hello"))...))
	closedStore, err := sessionstore.Open(t.TempDir(), nil)
	require.NoError(t, err)
	require.NoError(t, closedStore.Close())
	closedLog, err := eventslog.Open(t.TempDir(), nil)
	require.NoError(t, err)
	require.NoError(t, closedLog.Close())
	closedState, err := agentstate.Open(st, "s", nil)
	require.NoError(t, err)
	require.NoError(t, closedState.Close())
	closedProjects, err := projects.Open(t.TempDir(), nil)
	require.NoError(t, err)
	require.NoError(t, closedProjects.Close())
	log, err := eventslog.Open(t.TempDir(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, log.Close()) })

	for name, tt := range map[string]struct {
		kind error
		call func(ctx context.Context) error
	}{
		"turn":    {fs.ErrNotExist, func(ctx context.Context) error { _, err := sessionstore.TurnOf(st, ctx, "s", 5); return err }},
		"part":    {fs.ErrNotExist, func(ctx context.Context) error { _, err := sessionstore.PartFromTurnOf(st, ctx, "s", 5, 1); return err }},
		"message": {fs.ErrNotExist, func(ctx context.Context) error { _, err := sessionstore.MessageOf(st, ctx, "s", 5); return err }},
		"create":  {fs.ErrExist, func(ctx context.Context) error { return st.Create(ctx, "s", sessionstore.Metadata{}) }},
		"fork": {fs.ErrExist, func(ctx context.Context) error {
			_, err := slice.Fork(ctx, st, "s", &slice.ForkOptions{NewID: "s"})
			return err
		}},
		"no fork":     {fs.ErrNotExist, func(ctx context.Context) error { _, err := slice.Fork(ctx, st, "none", nil); return err }},
		"undo":        {fs.ErrNotExist, func(ctx context.Context) error { _, err := slice.Undo(ctx, st, "s", "none", nil); return err }},
		"state":       {fs.ErrNotExist, func(context.Context) error { _, err := agentstate.Open(st, "none", nil); return err }},
		"event":       {fs.ErrNotExist, func(ctx context.Context) error { _, err := log.At(ctx, 4); return err }},
		"archive":     {fs.ErrNotExist, func(ctx context.Context) error { return archive.Write(ctx, io.Discard, st, []string{"none"}, nil) }},
		"select":      {fs.ErrNotExist, func(context.Context) error { _, err := trash.Select(nil, "none"); return err }},
		"select none": {fs.ErrNotExist, func(context.Context) error { _, err := trash.Select(nil, ""); return err }},
		"phase":       {fs.ErrNotExist, func(ctx context.Context) error { _, err := workflow.New(st).Phase(ctx, "s", 5); return err }},
		"resume":      {fs.ErrNotExist, func(ctx context.Context) error { _, err := workflow.New(st).Resume(ctx, "none"); return err }},

		"closed store":    {fs.ErrClosed, func(ctx context.Context) error { _, err := closedStore.Load(ctx, "s"); return err }},
		"closed watch":    {fs.ErrClosed, func(ctx context.Context) error { _, err := closedStore.Watch(ctx); return err }},
		"zero store":      {fs.ErrClosed, func(ctx context.Context) error { return new(sessionstore.Store).Delete(ctx, "s") }},
		"fork of closed":  {fs.ErrClosed, func(ctx context.Context) error { _, err := slice.Fork(ctx, closedStore, "s", nil); return err }},
		"closed projects": {fs.ErrClosed, func(context.Context) error { _, err := closedProjects.Store("p"); return err }},
		"zero projects":   {fs.ErrClosed, func(ctx context.Context) error { _, err := new(projects.Projects).Slugs(ctx); return err }},
		"closed state":    {fs.ErrClosed, func(ctx context.Context) error { _, err := closedState.Approvals(ctx); return err }},
		"closed log":      {fs.ErrClosed, func(ctx context.Context) error { _, err := closedLog.At(ctx, 1); return err }},
	} {
		err := tt.call(t.Context())
		require.ErrorIs(t, err, tt.kind, name)
		require.NotContains(t, err.Error(), "file ", name)
	}
}

// The packages beside it say the same of a nil store and a nil context.
func TestNilArgumentsOfOtherPackages(t *testing.T) {
	t.Parallel()
	st := open(t, t.TempDir(), nil)
	require.NoError(t, st.Append(t.Context(), "s", parse(t, user("hello"))...))
	for _, call := range []func(*sessionstore.Store, context.Context){
		func(st *sessionstore.Store, ctx context.Context) { _, _ = slice.Fork(ctx, st, "s", nil) },
		func(st *sessionstore.Store, ctx context.Context) { _, _ = workflow.New(st).Resume(ctx, "s") },
		func(st *sessionstore.Store, ctx context.Context) { _, _ = trash.Delete(ctx, st, []string{"s"}, nil) },
	} {
		require.PanicsWithValue(t, "sessionstore: nil *Store", func() { call(nil, t.Context()) })
		require.PanicsWithValue(t, "sessionstore: nil Context", func() { call(st, nil) }) //nolint:staticcheck // what a mistaken caller gives
	}
	require.PanicsWithValue(t, "sessionstore: nil *Store", func() { _, _ = agentstate.Open(nil, "s", nil) })
}
