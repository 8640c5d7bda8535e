package turn

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/store/approvals"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive"
	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
	"github.com/amplifier-go/sessionstorage/sessionstore/verify"
	"github.com/amplifier-go/sessionstorage/slice"
)

func draftPath(st *sessionstore.Store, id string) string {
	return filepath.Join(st.Dir(), id, sessiondir.Draft)
}

// interrupted leaves a session with a prompt and a draft.
func interrupted(t testing.TB, st *sessionstore.Store) Draft {
	t.Helper()
	turn := begin(t, st, nil)
	require.NoError(t, turn.Think("hm"))
	require.NoError(t, turn.Say("secret half"))
	require.NoError(t, turn.Close())
	return requireDraftOf(t, st, id)
}

func requireDraftOf(t testing.TB, st *sessionstore.Store, id string) Draft {
	t.Helper()
	d := draftOf(t, st, id)
	require.Equal(t, Draft{1, "secret half", "hm"}, d)
	return d
}

func draftOf(t testing.TB, st *sessionstore.Store, id string) Draft {
	t.Helper()
	d, err := ReadDraft(t.Context(), st, id)
	require.NoError(t, err)
	return d
}

// TestDraftIsVoid changes the transcript in each way that there is.
func TestDraftIsVoid(t *testing.T) {
	t.Parallel()
	repaired := func(t *testing.T, st *sessionstore.Store) {
		s, err := st.Load(t.Context(), id)
		require.NoError(t, err)
		changed, err := s.Messages[0].With("more", 1)
		require.NoError(t, err)
		_, err = st.Replace(t.Context(), id, s.Revision, []sessionstore.Message{changed})
		require.NoError(t, err)
	}
	for name, change := range map[string]func(*testing.T, *sessionstore.Store){
		"an append": func(t *testing.T, st *sessionstore.Store) {
			require.NoError(t, again(t, st).Append(t.Context(), id, text(t, "user", "<system-reminder>x")))
		},
		"a row that was changed": repaired,
		"no row": func(t *testing.T, st *sessionstore.Store) {
			s, err := st.Load(t.Context(), id)
			require.NoError(t, err)
			_, err = st.Replace(t.Context(), id, s.Revision, nil)
			require.NoError(t, err)
		},
		"a rewind": func(t *testing.T, st *sessionstore.Store) {
			next := begin(t, st, nil)
			require.NoError(t, next.Say("other"))
			require.NoError(t, next.Close())
			require.Equal(t, "other", draftOf(t, st, id).Text)
			_, err := slice.RewindSessionTo(t.Context(), st, id, 1, slice.Complete)
			require.NoError(t, err)
		},
		"the next turn": func(t *testing.T, st *sessionstore.Store) {
			require.NoError(t, begin(t, st, nil).Close())
			require.NoFileExists(t, draftPath(st, id))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := newStore(t, nil)
			interrupted(t, st)
			change(t, st)
			require.Zero(t, draftOf(t, st, id))
			require.Zero(t, draftOf(t, again(t, st), id))
		})
	}
	t.Run("a rewind and its undo", func(t *testing.T) {
		t.Parallel()
		st := newStore(t, nil)
		require.NoError(t, begin(t, st, nil).End(t.Context()))
		next := begin(t, st, nil)
		require.NoError(t, next.Say("half"))
		require.NoError(t, next.Close())
		_, err := slice.RewindSessionTo(t.Context(), st, id, 1, slice.Complete)
		require.NoError(t, err)
		require.Zero(t, draftOf(t, st, id))
		_, err = slice.Undo(t.Context(), st, id, "", nil)
		require.NoError(t, err)
		require.Equal(t, Draft{2, "half", ""}, draftOf(t, st, id), "the transcript is what it was")
		require.NoError(t, st.Append(t.Context(), id, text(t, "assistant", "x")))
		require.Zero(t, draftOf(t, st, id))
	})
}

// TestDraftStaysHere looks for the draft wherever a session goes.
func TestDraftStaysHere(t *testing.T) {
	t.Parallel()
	ctx, st := t.Context(), newStore(t, nil)
	interrupted(t, st)
	for _, f := range []archive.Format{archive.Tar, archive.JSONL, archive.Markdown, archive.HTML} {
		var out strings.Builder
		require.NoError(t, archive.Write(ctx, &out, st, []string{id}, &archive.WriteOptions{Format: f}))
		require.NotContains(t, out.String(), "secret", f)
		require.NotContains(t, out.String(), sessiondir.Draft, f)
	}
	other := newStore(t, nil)
	_, err := archive.ReadDir(ctx, filepath.Join(st.Dir(), id), other, nil)
	require.NoError(t, err)
	require.NoFileExists(t, draftPath(other, id))
	forked, err := slice.Fork(ctx, st, id, nil)
	require.NoError(t, err)
	require.NoFileExists(t, draftPath(st, forked.ID))
	for hit, err := range st.Search(ctx, id, sessionstore.Sought{Text: "secret"}) {
		require.NoError(t, err)
		require.Fail(t, "found", hit)
	}
	summary, err := st.Summary(ctx, id)
	require.NoError(t, err)
	require.Equal(t, 1, summary.Messages)
	for p, err := range verify.Check(ctx, st, id, nil) {
		require.NoError(t, err)
		require.Fail(t, "a finding", p)
	}
	_, err = slice.RepairSession(ctx, st, id)
	require.NoError(t, err)
	n, err := st.Cleanup(ctx, 1)
	require.NoError(t, err)
	require.Zero(t, n)
	requireDraftOf(t, st, id)
}

// TestDraftIsNotWatched writes a draft beside a watcher: the next change that it tells of is of
// the transcript.
func TestDraftIsNotWatched(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	turn := begin(t, st, nil)
	w, err := st.Watch(t.Context())
	require.NoError(t, err)
	for range 3 {
		require.NoError(t, turn.Say("piece"))
		require.NoError(t, turn.flush())
	}
	require.NoError(t, turn.End(t.Context()))
	for c := range w.Changes() {
		require.NotEqual(t, sessiondir.Draft, c.File)
		if c.File == sessiondir.Transcript {
			break
		}
	}
	require.NoError(t, w.Close())
}

// TestDraftGoesWithItsSession deletes a session so that it can be brought back, and copies it.
func TestDraftGoesWithItsSession(t *testing.T) {
	t.Parallel()
	ctx, st := t.Context(), newStore(t, nil)
	interrupted(t, st)
	require.NoError(t, os.CopyFS(filepath.Join(st.Dir(), "copy"), os.DirFS(filepath.Join(st.Dir(), id))))
	requireDraftOf(t, st, "copy")
	gone, err := trash.Delete(ctx, st, []string{id}, &trash.Options{Quiet: -1})
	require.NoError(t, err)
	_, err = ReadDraft(ctx, st, id)
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	_, err = trash.Restore(ctx, st, gone.Receipt, nil)
	require.NoError(t, err)
	requireDraftOf(t, st, id)
}

// TestTurnOfAGoneSession has another program take the session away while the turn runs.
func TestTurnOfAGoneSession(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOOS != "windows", "an open file holds the name of its directory on Windows")
	st := newStore(t, nil)
	turn := begin(t, st, nil)
	require.NoError(t, turn.Say("half"))
	require.NoError(t, turn.flush())
	require.NoError(t, os.Rename(filepath.Join(st.Dir(), id), filepath.Join(t.TempDir(), "elsewhere")))
	require.ErrorIs(t, turn.End(t.Context()), sessionstore.ErrNotFound)
	require.ErrorIs(t, turn.Step(t.Context(), calls(t, "c1")), sessionstore.ErrNotFound)
	require.NoDirExists(t, filepath.Join(st.Dir(), id))
}

// TestOddDrafts has something else under the name of the draft.
func TestOddDrafts(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOOS != "windows", "no symlinks here")
	for name, put := range map[string]func(t *testing.T, st *sessionstore.Store, path string){
		"a symlink": func(t *testing.T, st *sessionstore.Store, path string) {
			require.NoError(t, os.Symlink("metadata.json", path))
		},
		"a symlink that leads out": func(t *testing.T, st *sessionstore.Store, path string) {
			require.NoError(t, os.Symlink(filepath.Join(st.Dir(), "..", "outside"), path))
		},
		"an empty directory": func(t *testing.T, _ *sessionstore.Store, path string) { require.NoError(t, os.Mkdir(path, 0o700)) },
		"a torn line": func(t *testing.T, _ *sessionstore.Store, path string) {
			require.NoError(t, os.WriteFile(path, []byte(`{"v": 1, "pro`), 0o600))
		},
		"NUL": func(t *testing.T, _ *sessionstore.Store, path string) {
			require.NoError(t, os.WriteFile(path, make([]byte, 100), 0o600))
		},
		"empty": func(t *testing.T, _ *sessionstore.Store, path string) {
			require.NoError(t, os.WriteFile(path, nil, 0o600))
		},
		"too large": func(t *testing.T, _ *sessionstore.Store, path string) {
			require.NoError(t, os.WriteFile(path, make([]byte, maxDraft+1), 0o600))
		},
		"another version": func(t *testing.T, st *sessionstore.Store, path string) {
			end, err := endOf(t.Context(), st, id)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, `{"v": 2, "prompt": 1, "at": %q}`+"\n"+`{"text": "x"}`+"\n", end), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := newStore(t, nil)
			outside := filepath.Join(st.Dir(), "..", "outside")
			require.NoError(t, os.WriteFile(outside, []byte("theirs"), 0o600))
			turn := begin(t, st, nil)
			before, err := os.ReadFile(filepath.Join(st.Dir(), id, "metadata.json"))
			require.NoError(t, err)
			put(t, st, draftPath(st, id))
			require.Zero(t, draftOf(t, st, id))
			require.NoError(t, turn.Say("half"))
			require.NoError(t, turn.flush())
			require.Equal(t, "half", draftOf(t, st, id).Text)
			require.NoError(t, turn.End(t.Context()))
			after, err := os.ReadFile(filepath.Join(st.Dir(), id, "metadata.json"))
			require.NoError(t, err)
			require.Equal(t, string(before), string(after))
			theirs, err := os.ReadFile(outside)
			require.NoError(t, err)
			require.Equal(t, "theirs", string(theirs))
			require.Equal(t, []string{"u ask", "a half"}, rows(t, st))
		})
	}
}

// TestDraftInTheWay has a directory with files under the name of the draft: the answer is stored,
// and the reason why there is no draft is told.
func TestDraftInTheWay(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	turn := begin(t, st, nil)
	require.NoError(t, os.MkdirAll(filepath.Join(draftPath(st, id), "theirs"), 0o700))
	require.NoError(t, turn.Say("half"))
	require.Error(t, turn.flush())
	require.Zero(t, draftOf(t, st, id))
	require.NoError(t, turn.End(t.Context()))
	require.Equal(t, []string{"u ask", "a half"}, rows(t, st))
	require.DirExists(t, filepath.Join(draftPath(st, id), "theirs"))
}

// TestTornDraft cuts a draft at each byte: what is whole before that is found.
func TestTornDraft(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	turn := begin(t, st, nil)
	for _, piece := range []string{"eins ", "zwei ", "drei"} {
		require.NoError(t, turn.Say(piece))
		require.NoError(t, turn.flush())
	}
	require.NoError(t, turn.Close())
	whole, err := os.ReadFile(draftPath(st, id))
	require.NoError(t, err)
	last := ""
	for n := range len(whole) + 1 {
		require.NoError(t, os.WriteFile(draftPath(st, id), whole[:n], 0o600))
		d := draftOf(t, st, id)
		require.True(t, strings.HasPrefix(d.Text, last) && strings.HasPrefix("eins zwei drei", d.Text), n)
		last = d.Text
	}
	require.Equal(t, "eins zwei drei", last)
}

// TestLargeDraft says more than a draft takes.
func TestLargeDraft(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	turn := begin(t, st, nil)
	said := strings.Repeat("e\u0301\x01\"", maxDraft/4)
	for part := range 4 {
		require.NoError(t, turn.Say(said[part*len(said)/4:(part+1)*len(said)/4]))
		require.NoError(t, turn.flush())
	}
	require.NoError(t, turn.flush())
	fi, err := os.Lstat(draftPath(st, id))
	require.NoError(t, err)
	require.LessOrEqual(t, fi.Size(), int64(maxDraft))
	require.Greater(t, fi.Size(), int64(maxDraft-10*draftPiece))
	d := draftOf(t, st, id)
	require.True(t, strings.HasPrefix(said, d.Text) && d.Text != "")
	require.NoError(t, turn.End(t.Context()))
	require.True(t, rows(t, st)[1] == "a "+said)
}

// TestDraftWithinASecond waits for the write of a piece after which none comes.
func TestDraftWithinASecond(t *testing.T) {
	t.Parallel()
	wrote := make(chan struct{}, 9)
	st := newStore(t, &seam.Seam{After: func(op seam.Op) {
		if op.Kind == seam.Write && op.Name == sessiondir.Draft {
			wrote <- struct{}{}
		}
	}})
	turn := begin(t, st, nil)
	for n := 1; n <= 2; n++ {
		at := time.Now()
		for range 5 {
			require.NoError(t, turn.Say("x"))
		}
		<-wrote
		testenv.Timely(t, "a piece", time.Since(at), 2*time.Second)
		require.Equal(t, strings.Repeat("x", 5*n), draftOf(t, st, id).Text)
	}
	require.Empty(t, wrote, "one write a second")
	require.NoError(t, turn.End(t.Context()))
}

// TestAtOnce uses a turn from many goroutines.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	turn := begin(t, st, nil)
	require.NoError(t, turn.Step(t.Context(), calls(t, "c1", "c2", "c3", "c4")))
	open, err := turn.Calls(t.Context())
	require.NoError(t, err)
	var all sync.WaitGroup
	var mu sync.Mutex
	ran, refused := map[string]int{}, 0
	for range 2 {
		for _, c := range open {
			all.Go(func() {
				_, err := turn.Call(t.Context(), c, func(ctx context.Context, c sessionstore.ToolCall) (sessionstore.Message, error) {
					mu.Lock()
					defer mu.Unlock()
					ran[c.ID]++
					return result(ctx, c)
				})
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					refused++
				}
			})
			all.Go(func() { _ = turn.Say("x"); _ = turn.flush() })
		}
	}
	all.Wait()
	require.Equal(t, map[string]int{"c1": 1, "c2": 1, "c3": 1, "c4": 1}, ran)
	require.Equal(t, 4, refused)
	require.Equal(t, "xxxxxxxx", draftOf(t, st, id).Text)
	require.NoError(t, turn.End(t.Context()))
	require.Equal(t, []string{"u ask", "a ", "t ran", "t ran", "t ran", "t ran", "a xxxxxxxx"}, rows(t, st))
}

// TestDraftOfACall stores a result while an answer streams: the draft goes on.
func TestDraftOfACall(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	turn := begin(t, st, nil)
	require.NoError(t, turn.Step(t.Context(), calls(t, "c1")))
	require.NoError(t, turn.Say("meanwhile"))
	require.NoError(t, turn.flush())
	_, err := turn.Call(t.Context(), sessionstore.ToolCall{ID: "c1"}, result)
	require.NoError(t, err)
	require.Equal(t, Draft{1, "meanwhile", ""}, draftOf(t, st, id))
}

// TestResults has runs that return what is no result, and a context that ends.
func TestResults(t *testing.T) {
	t.Parallel()
	pictures, err := sessionstore.NewMessage(map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": "c1", "content": []any{map[string]any{"type": "image", "source": "x"}}}}})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	for want, run := range map[string]Run{
		"": func(context.Context, sessionstore.ToolCall) (sessionstore.Message, error) { return pictures, nil },
		"Error: no such file": func(context.Context, sessionstore.ToolCall) (sessionstore.Message, error) {
			return sessionstore.Message{}, fmt.Errorf("no such file")
		},
		"Error: the tool returned a row that is not the result of the call": func(context.Context, sessionstore.ToolCall) (sessionstore.Message, error) {
			return sessionstore.ToolResult("c2", "bash", "x", time.Time{})
		},
		"Error: context canceled": func(ctx context.Context, _ sessionstore.ToolCall) (sessionstore.Message, error) {
			cancel()
			return sessionstore.Message{}, ctx.Err()
		},
	} {
		st := newStore(t, nil)
		turn := begin(t, st, nil)
		require.NoError(t, turn.Step(t.Context(), calls(t, "c1")))
		row, err := turn.Call(ctx, sessionstore.ToolCall{ID: "c1"}, run)
		if ctx.Err() == nil {
			require.NoError(t, err)
		}
		require.Equal(t, want, row.Content())
		require.Equal(t, "c1", map[bool]string{true: "c1", false: row.ToolCallID()}[want == ""])
		require.Len(t, rows(t, st), 3)
		if ctx.Err() != nil {
			require.ErrorIs(t, err, context.Canceled)
			ctx, cancel = context.WithCancel(t.Context())
		}
	}
	cancel()
}

// TestBadRows refuses rows of other roles.
func TestBadRows(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	toolRow, err := sessionstore.ToolResult("c1", "bash", "x", time.Time{})
	require.NoError(t, err)
	for _, m := range []sessionstore.Message{text(t, "assistant", "x"), text(t, "system", "x"), toolRow, {}} {
		_, err := Begin(t.Context(), st, id, m, nil)
		require.ErrorIs(t, err, sessionstore.ErrUnstorable)
	}
	require.False(t, st.Exists(id))
	turn := begin(t, st, nil)
	for _, m := range []sessionstore.Message{text(t, "user", "x"), text(t, "system", "x"), toolRow, {}} {
		require.ErrorIs(t, turn.Step(t.Context(), m), sessionstore.ErrUnstorable)
	}
	_, err = Begin(t.Context(), st, "../out", text(t, "user", "x"), nil)
	require.ErrorIs(t, err, sessionstore.ErrInvalidID)
	_, err = Resume(t.Context(), st, "none", nil)
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	_, err = ReadDraft(t.Context(), st, "none")
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
}

// TestSubSession has a session that cannot be acquired.
func TestSubSession(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	const sub = "s1-0000_agent"
	turn, err := Begin(t.Context(), st, sub, text(t, "user", "x"), nil)
	require.NoError(t, err)
	for _, other := range []*sessionstore.Store{st, again(t, st)} {
		_, err := Begin(t.Context(), other, sub, text(t, "user", "x"), nil)
		require.ErrorIs(t, err, sessionstore.ErrLocked)
	}
	require.NoError(t, turn.End(t.Context()))
	require.NoError(t, st.Delete(t.Context(), sub))
	locks, err := os.ReadDir(filepath.Join(st.Dir(), sessiondir.Bookkeeping, sessiondir.Turns))
	require.NoError(t, err)
	require.Empty(t, locks)
}

// TestApprovedBeforeTheRestart claims what an earlier process let the user approve, without asking again.
func TestApprovedBeforeTheRestart(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	turn := begin(t, st, &Options{Approve: func(context.Context, sessionstore.ToolCall) (agentstate.Verdict, error) {
		return agentstate.Undecided, nil
	}})
	require.NoError(t, turn.Step(t.Context(), calls(t, "c1", "c2")))
	for _, c := range []string{"c1", "c2"} {
		_, err := turn.Call(t.Context(), sessionstore.ToolCall{ID: c}, nil)
		require.ErrorIs(t, err, agentstate.ErrNotApproved)
	}
	require.NoError(t, turn.Close())
	state, err := agentstate.Open(st, id, nil)
	require.NoError(t, err)
	kept, err := state.Approvals(t.Context())
	require.NoError(t, err)
	require.Len(t, kept, 2)
	require.NoError(t, state.Decide(t.Context(), kept[0].ID, agentstate.Approved))
	require.NoError(t, state.Decide(t.Context(), kept[1].ID, agentstate.Rejected))

	turn, err = Resume(t.Context(), again(t, st), id, &Options{Approve: func(context.Context, sessionstore.ToolCall) (agentstate.Verdict, error) {
		return "", fmt.Errorf("asked again")
	}})
	require.NoError(t, err)
	for _, c := range []string{"c1", "c2"} {
		_, err := turn.Call(t.Context(), sessionstore.ToolCall{ID: c}, result)
		require.NoError(t, err)
	}
	require.NoError(t, turn.Close())
	require.Equal(t, []string{"u ask", "a ", "t ran", "t " + rejectedResult}, rows(t, st))
}

// TestApprovedBeforeARewind asks about a call that was approved before the rows of the turn were
// rewound and came again, also after the question could not be stored.
func TestApprovedBeforeARewind(t *testing.T) {
	t.Parallel()
	full, asked := false, 0
	st := newStore(t, &seam.Seam{Before: func(op seam.Op) error {
		if full && strings.Contains(op.Name, approvals.CallsFile) {
			return syscall.ENOSPC
		}
		return nil
	}})
	undecided := &Options{Approve: func(context.Context, sessionstore.ToolCall) (agentstate.Verdict, error) {
		asked++
		return agentstate.Undecided, nil
	}}
	call := func(turn *Turn) error {
		_, err := turn.Call(t.Context(), sessionstore.ToolCall{ID: "c1"}, result)
		return err
	}
	turn := begin(t, st, undecided)
	require.NoError(t, turn.Step(t.Context(), calls(t, "c1")))
	require.ErrorIs(t, call(turn), agentstate.ErrNotApproved)
	require.NoError(t, turn.Close())
	state, err := agentstate.Open(st, id, nil)
	require.NoError(t, err)
	kept, err := state.Approvals(t.Context())
	require.NoError(t, err)
	require.NoError(t, state.Decide(t.Context(), kept[0].ID, agentstate.Approved))
	s, err := st.Load(t.Context(), id)
	require.NoError(t, err)
	_, err = st.Replace(t.Context(), id, s.Revision, s.Messages[:0])
	require.NoError(t, err)

	turn = begin(t, st, undecided)
	require.NoError(t, turn.Step(t.Context(), calls(t, "c1")))
	full = true
	require.ErrorIs(t, call(turn), syscall.ENOSPC)
	full = false
	require.ErrorIs(t, call(turn), agentstate.ErrNotApproved)
	require.Equal(t, 2, asked)
	require.NoError(t, turn.Close())
}

// TestDraftOfALargeTranscript has a transcript that is read by way of the index, by this store
// and by others, and to which another tool appends.
func TestDraftOfALargeTranscript(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	var before []sessionstore.Message
	for range 300 {
		before = append(before, text(t, "user", "before"), text(t, "assistant", strings.Repeat("x", 8000)))
	}
	require.NoError(t, st.Append(t.Context(), id, before...))
	turn := begin(t, again(t, st), nil)
	require.NoError(t, turn.Say("half"))
	require.NoError(t, turn.Close())
	for _, other := range []*sessionstore.Store{st, again(t, st), again(t, st)} {
		require.Equal(t, Draft{601, "half", ""}, draftOf(t, other, id))
	}
	path := filepath.Join(st.Dir(), id, sessiondir.Transcript)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"role": "user", "content": "theirs"}` + "\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	for _, other := range []*sessionstore.Store{st, again(t, st)} {
		require.Zero(t, draftOf(t, other, id))
	}
}
