package eventslog

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// vandal changes a log in every way there is. Its events have names of their own.
type vandal struct {
	path   string
	log    *Log
	random *rand.Rand
	events int
}

func (v *vandal) name() string {
	v.events++
	return fmt.Sprint("v", v.events)
}

// lines returns some whole lines, seldom long ones, and now and then a bad one.
func (v *vandal) lines() string {
	var b strings.Builder
	for range 1 + v.random.IntN(5) {
		pad := strings.Repeat("x", 1<<v.random.IntN(11))
		if v.random.IntN(50) == 0 {
			pad = strings.Repeat("x", blockSize)
		}
		fmt.Fprintf(&b, `{"event": %q, "data": %q}`+"\n", v.name(), pad)
		if v.random.IntN(8) == 0 {
			b.WriteString("bad\n\r\n")
		}
	}
	return b.String()
}

// act does one thing to the log, and returns what it was.
func (v *vandal) act(ctx context.Context) (string, error) {
	switch v.random.IntN(12) {
	case 0: // written anew in its place
		return "rewrite", os.WriteFile(v.path, []byte(v.lines()+v.lines()), 0o600)
	case 1:
		err := os.WriteFile(v.path+".new", []byte(v.lines()), 0o600)
		return "replace", errors.Join(err, os.Rename(v.path+".new", v.path))
	case 2:
		return "rotate", ignoreMissing(os.Rename(v.path, v.path+".1"))
	case 3:
		return "remove", ignoreMissing(os.Remove(v.path))
	case 4:
		return "cut", v.cut()
	case 5, 6:
		text := v.lines()
		return "tear", v.write(text[:v.random.IntN(len(text))])
	case 7, 8:
		return "foreign", v.write(v.lines())
	}
	return "append", v.log.Append(ctx, Event{Name: v.name()}, Event{Name: v.name()})
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

func (v *vandal) cut() error {
	fi, err := os.Stat(v.path)
	if err != nil {
		return ignoreMissing(err)
	}
	return os.Truncate(v.path, v.random.Int64N(fi.Size()+1))
}

func (v *vandal) write(text string) error {
	f, err := os.OpenFile(v.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// follower folds what it follows, and goes on from its cursor when it was stopped.
type follower struct {
	cur       Cursor
	seen      []string
	rewritten int
	begun     func() // called for what is seen
}

// follow takes at most n heads, or those up to the event last.
func (f *follower) follow(ctx context.Context, l *Log, n int, last string) error {
	for h, err := range l.Follow(ctx, f.cur) {
		if err != nil {
			return err
		}
		f.cur = h.Next
		if h.Rewritten {
			f.seen, f.rewritten = nil, f.rewritten+1
		} else {
			f.seen = append(f.seen, h.Event)
			f.begun()
		}
		if n--; n == 0 || h.Event == last {
			break
		}
	}
	return nil
}

// TestFollowWhatChanges follows a log that is changed all the time in every
// way, in many sittings: what was seen is what the log holds in the end.
func TestFollowWhatChanges(t *testing.T) {
	t.Parallel()
	rounds := testenv.Share(2, 2, 8)
	for round := range rounds {
		t.Run(fmt.Sprint("round=", round), func(t *testing.T) {
			t.Parallel()
			random := testenv.Rand(t)
			dir := filepath.Join(t.TempDir(), "sess")
			l, err := Open(dir, nil)
			require.NoError(t, err)
			require.NoError(t, os.MkdirAll(dir, 0o700))
			v := &vandal{path: l.path(), log: l, random: rand.New(rand.NewPCG(random.Uint64(), 1))}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			begun := make(chan struct{})
			done := make(chan error, 1)
			go func() {
				for i := range 400 {
					if i == 100 { // the rest changes what was seen
						if err := l.Append(ctx, Event{Name: v.name()}); err != nil {
							done <- err
							return
						}
						<-begun
					}
					if what, err := v.act(ctx); err != nil {
						done <- fmt.Errorf("%s: %w", what, err)
						return
					}
				}
				done <- l.Append(ctx, Event{Name: "last"})
			}()
			f := follower{begun: sync.OnceFunc(func() { close(begun) })}
			for len(f.seen) == 0 || f.seen[len(f.seen)-1] != "last" {
				other, err := Open(dir, nil) // as after a restart
				require.NoError(t, err)
				require.NoError(t, f.follow(ctx, other, 1+random.IntN(40), "last"))
				require.NoError(t, other.Close())
			}
			require.NoError(t, <-done)
			want, _ := names(t, l, Cursor{})
			require.Equal(t, want, f.seen)
			require.Positive(t, f.rewritten)
			require.NoError(t, l.Close())
		})
	}
}

// TestCursorBeforeRewrite goes on from the cursor of every event after the log
// was changed before it: the first head has Rewritten set.
func TestCursorBeforeRewrite(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 20 {
		text.WriteString(event(fmt.Sprint("e", i)) + "\n")
	}
	old := text.String()
	for name, change := range map[string]func(path string) error{
		"cut":        func(path string) error { return os.Truncate(path, 3) },
		"removed":    os.Remove,
		"emptied":    func(path string) error { return os.Truncate(path, 0) },
		"same size":  func(path string) error { return os.WriteFile(path, []byte(strings.Replace(old, "e0", "x0", 1)), 0o600) },
		"longer":     func(path string) error { return os.WriteFile(path, []byte("\n"+old+old), 0o600) },
		"other file": func(path string) error { return os.WriteFile(path, []byte(strings.Repeat(event("z")+"\n", 99)), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := openIn(t, old, nil)
			var cursors []Cursor
			for h, err := range l.Heads(t.Context(), Cursor{}) {
				require.NoError(t, err)
				cursors = append(cursors, h.Next)
			}
			require.Len(t, cursors, 20)
			require.NoError(t, change(l.path()))
			want, _ := names(t, l, Cursor{})
			for _, cur := range cursors {
				got, _ := names(t, l, cur)
				require.Equal(t, append([]string{"!"}, want...), got)
				for h, err := range l.Follow(t.Context(), cur) {
					require.NoError(t, err)
					require.True(t, h.Rewritten)
					break
				}
			}
		})
	}
}

// TestRewrittenWhileRead writes the log anew, and longer, while it is read: the
// reader notices although the new log goes on where the old one ended.
func TestRewrittenWhileRead(t *testing.T) {
	t.Parallel()
	log := func(name string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `{"event": "%s%d", "data": %q}`+"\n", name, i, strings.Repeat(name, 100))
		}
		return b.String()
	}
	l := openIn(t, log("a", 5000), nil)
	var got []string
	for h, err := range l.Heads(t.Context(), Cursor{}) {
		require.NoError(t, err)
		if len(got) == 0 {
			put(t, l, log("b", 9000))
		}
		if h.Rewritten {
			got = nil
		}
		got = append(got, mark(h))
	}
	want, _ := names(t, l, Cursor{})
	require.Len(t, want, 9000)
	require.Equal(t, append([]string{"!"}, want...), got)
}
