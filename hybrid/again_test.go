package hybrid

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// slow is the way of a device to a remote.
type slow struct {
	remote.Remote
	stored func(ctx context.Context, part string, objects []remote.Object) // is called after a Commit without a swap
	holds  bool                                                            // it makes no Delete
	part   string                                                          // of the Deletes that it did not make
	held   []string                                                        // their names
}

func (s *slow) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	v, err := s.Remote.Commit(ctx, part, objects, swap)
	if err == nil && swap == nil && s.stored != nil {
		s.stored(ctx, part, objects)
	}
	return v, err
}

func (s *slow) Delete(ctx context.Context, part string, names []string) error {
	if s.holds {
		s.part, s.held = part, append(s.held, names...)
		return errCrash
	}
	return s.Remote.Delete(ctx, part, names)
}

// TestSendThatIsMadeAgain lets a device sleep after it stored a part of a line of several
// documents, until two other devices have removed that part: one of them sleeps before its
// request to remove it, and the other one removes it. The first device sends the line anew. Then
// the request arrives again that had stored the part, a prune meets the line twice, and at last
// the request to remove the part arrives. The line stays.
func TestSendThatIsMadeAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mem memremote.Remote
		c := &cloud{alone: true, elsewhere: func() remote.Remote { return &mem }}
		over := func(s *slow) func(*Options) {
			return func(o *Options) { o.Remote, o.Limits = s, &Limits{FirstAnswer: -1} } // a machine that sleeps does not count the time
		}
		writes, sleeps := &slow{Remote: &mem}, &slow{Remote: &mem, holds: true}
		a, b, g := c.device(t, "a", over(writes)), c.device(t, "b"), c.device(t, "g", over(sleeps))
		const grace = 8 * 24 * time.Hour
		ordered := map[bool]bool{} // whether lists have the segment of the first try first
		for n := 1; len(ordered) < 2; n++ {
			require.Less(t, n, 60)
			id := fmt.Sprint("s", n)
			a.say(id, "hello")
			a.sync(id)
			a.say(id, noise(2200<<10))
			var again func()
			var segments []string
			writes.stored = func(ctx context.Context, part string, objects []remote.Object) {
				for _, o := range objects {
					if strings.Contains(o.Name, "-s-t-") {
						segments = append(segments, o.Name)
					}
				}
				if again != nil {
					return
				}
				again = func() {
					_, err := mem.Commit(t.Context(), part, objects, nil)
					require.NoError(t, err)
				}
				sleeps.held = nil
				asleep(ctx, func() {
					time.Sleep(grace)
					_, err := g.Prune(t.Context(), nil, id)
					require.ErrorIs(t, err, errCrash)
					require.NotEmpty(t, sleeps.held)
					b.prune(nil, id)
				})
			}
			a.sync(id)
			require.Len(t, segments, 2)
			ordered[segments[0] < segments[1]] = true
			again()
			for range 2 {
				time.Sleep(grace)
				b.prune(nil, id)
			}
			require.NoError(t, mem.Delete(t.Context(), sleeps.part, sleeps.held))
			fresh := c.device(t, "fresh"+id)
			fresh.pull(id)
			require.Equal(testenv.Lost(t), a.file(id, "transcript.jsonl"), fresh.file(id, "transcript.jsonl"), "names: %v", segments)
		}
	})
}
