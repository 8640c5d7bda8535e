package gc

import (
	"context"
	"maps"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// apart is a remote that does nothing whole: each object that it stores or removes is a request.
type apart struct{ *turns }

func (a *apart) Info(context.Context) (remote.Info, error) { return remote.Info{}, nil }

func (a *apart) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (v remote.Version, err error) {
	for i := range objects {
		if _, err := a.turns.Commit(ctx, part, objects[i:i+1], nil); err != nil {
			return "", err
		}
	}
	if swap == nil {
		return "", nil
	}
	alone := *swap
	alone.Remove = nil
	if v, err = a.turns.Commit(ctx, part, nil, &alone); err != nil {
		return "", err
	}
	_ = a.Delete(ctx, part, swap.Remove)
	return v, nil
}

func (a *apart) Delete(ctx context.Context, part string, names []string) error {
	for _, name := range names {
		if err := a.turns.Delete(ctx, part, []string{name}); err != nil {
			return err
		}
	}
	return nil
}

// TestOrdersApart: nothing is lost in a remote that does nothing whole.
func TestOrdersApart(t *testing.T) {
	t.Parallel()
	all := orders(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name].large && !testenv.Long() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := orders(t)[name]
				s.through = func(g *turns) remote.Remote { return &apart{g} }
				require.Empty(t, s.run())
				t.Logf("%d states", len(s.seen))
			})
		})
	}
}
