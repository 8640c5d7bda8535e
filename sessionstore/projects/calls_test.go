package projects_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// calls are the methods of p that can fail, with text for each text.
func calls(p *projects.Projects, text string) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Slugs":   func(ctx context.Context) error { _, err := p.Slugs(ctx); return err },
		"Store":   func(context.Context) error { _, err := p.Store(text); return err },
		"Resolve": func(ctx context.Context) error { _, err := p.Resolve(ctx, text, text); return err },
		"Find":    func(ctx context.Context) error { _, err := p.Find(ctx, projects.Query{Project: text}); return err },
		"Summaries": func(ctx context.Context) (failed error) {
			for _, err := range p.Summaries(ctx, nil) {
				failed = err
			}
			return failed
		},
		"Usage": func(ctx context.Context) (failed error) {
			for _, err := range p.Usage(ctx, projects.Query{Project: text}) {
				failed = err
			}
			return failed
		},
		"Search": func(ctx context.Context) (failed error) {
			for _, err := range p.Search(ctx, sessionstore.Sought{Text: "word"}, projects.Query{Project: text}) {
				failed = err
			}
			return failed
		},
		"Files": func(ctx context.Context) (failed error) {
			for _, err := range p.Files(ctx, "/file", projects.Query{Project: text}) {
				failed = err
			}
			return failed
		},
	}
}

// Projects that nobody opened, and such as were closed, answer with an error, whatever
// is asked.
func TestZero(t *testing.T) {
	t.Parallel()
	var p projects.Projects
	require.Empty(t, p.Dir())
	all := calls(&p, "p")
	require.Equal(t, reflect.TypeFor[*projects.Projects]().NumMethod(), len(all)+len([]string{"Close", "Dir"}))
	for name, call := range all {
		require.ErrorIs(t, call(t.Context()), sessionstore.ErrClosed, name)
	}
	require.NoError(t, p.Close())
	require.NoError(t, p.Close())
}

// A nil context is a mistake of the caller, and the panic says so.
func TestNilContext(t *testing.T) {
	t.Parallel()
	p := openProjects(t, t.TempDir())
	for name, call := range calls(p, "") {
		if name != "Store" && name != "Resolve" {
			require.PanicsWithValue(t, "sessionstore: nil Context", func() { _ = call(nil) }, name)
		}
	}
}

// An error shows 64 bytes of a name or a reference of any length.
func TestErrorsShowTheBeginning(t *testing.T) {
	t.Parallel()
	p, failed := openProjects(t, t.TempDir()), 0
	for _, n := range []int{65, 200, 1000, 1 << 20} {
		text := strings.Repeat("x", n)
		for name, call := range calls(p, text) {
			if err := call(t.Context()); err != nil {
				failed++
				require.NotContains(t, err.Error(), text[:65], name)
			}
		}
	}
	require.Greater(t, failed, 4)
}
