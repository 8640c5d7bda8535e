package hybrid

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// TestRefusedAndBusyAtOnce has a device fetch two segments at once. The account
// refuses one request, and asks for a short time for another, which was under way.
// The next Refresh asks again, and brings all.
func TestRefusedAndBusyAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		a, b := c.device(t, "a"), c.device(t, "b")
		all := numbered("message ", 0, 2)
		for _, text := range all {
			a.say("s", text)
			a.sync()
		}
		segments := c.segments(t)
		require.Len(t, segments, 2)
		c.Inject(func(r cosmostest.Request) cosmostest.Fault {
			switch {
			case r.Op != cosmostest.OpRead:
			case r.ID == segments[0]:
				return cosmostest.Fault{Delay: 10 * time.Millisecond, Status: http.StatusServiceUnavailable, RetryAfter: 5 * time.Millisecond}
			case r.ID == segments[1]:
				return cosmostest.Fault{Delay: time.Millisecond, Status: http.StatusUnauthorized} // both have arrived by then
			}
			return cosmostest.Fault{}
		})
		_, err := b.Refresh(t.Context(), "s")
		require.ErrorIs(t, err, ErrBlocked)
		c.Inject(nil)
		b.refresh("s")
		require.Equal(t, all, b.texts("s"))
	})
}

// segments returns the ids of the segments in the cloud, in the order of their lines.
func (c *cloud) segments(t *testing.T) (ids []string) {
	t.Helper()
	type segment struct {
		Type, ID string
		End      int64
	}
	var found []segment
	for _, d := range c.Docs(testDatabase, testContainer) {
		s := segment{ID: d.ID, Type: documentOf(d).Type}
		if s.Type == "seg" {
			require.NoError(t, json.Unmarshal(documentOf(d).Label, &s))
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b segment) int { return cmp.Compare(a.End, b.End) })
	for _, s := range found {
		ids = append(ids, s.ID)
	}
	return ids
}
