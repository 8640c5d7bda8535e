package turn

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive"
)

// TestPromptOfAProgram refuses a prompt that Resume would not take for one: its calls would run again.
func TestPromptOfAProgram(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	mixed, err := sessionstore.NewMessage(map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "text", "text": "x"}, map[string]any{"type": "tool_result", "tool_use_id": "c1", "content": "x"},
	}})
	require.NoError(t, err)
	for _, m := range []sessionstore.Message{text(t, "user", "<system-reminder>go on</system-reminder>"), mixed} {
		_, err := Begin(t.Context(), st, id, m, nil)
		require.ErrorIs(t, err, sessionstore.ErrUnstorable)
	}
	require.False(t, st.Exists(id))
}

// TestPiecesOfACharacter says an answer byte by byte.
func TestPiecesOfACharacter(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	turn := begin(t, st, nil)
	const said = "a€b\x00😀ü"
	for i := range len(said) {
		require.NoError(t, turn.Say(said[i:i+1]))
		require.NoError(t, turn.flush())
		require.True(t, strings.HasPrefix(said, draftOf(t, st, id).Text), "%q", draftOf(t, st, id).Text)
	}
	require.Equal(t, said, draftOf(t, st, id).Text)
	require.NoError(t, turn.End(t.Context()))
	require.Equal(t, []string{"u ask", "a " + said}, rows(t, st))
}

// TestInvalidText says what is no UTF-8: the draft has what will be stored.
func TestInvalidText(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	turn := begin(t, st, nil)
	const said, stored = "x\xffy\x80\xffz\xf0\x9f\x80", "x\ufffdy\ufffd\ufffdz\ufffd\ufffd\ufffd"
	for i := range len(said) {
		require.NoError(t, turn.Say(said[i:i+1]))
		require.NoError(t, turn.flush())
		require.True(t, strings.HasPrefix(stored, draftOf(t, st, id).Text))
	}
	require.NoError(t, turn.End(t.Context()))
	require.Equal(t, []string{"u ask", "a " + stored}, rows(t, st))
}

// TestEndAgain fails an operation of End, and calls it again: the answer is stored once, also in
// other bytes than were said.
func TestEndAgain(t *testing.T) {
	t.Parallel()
	for at := 0; ; at++ {
		failer := &crashsim.Failer{At: at, Err: syscall.EIO}
		fails := false
		st, err := core.Open(filepath.Join(t.TempDir(), "sessions"), &sessionstore.Options{Portable: true}, &seam.Seam{Before: func(op seam.Op) error {
			if !fails {
				return nil
			}
			return failer.Before(op)
		}})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, st.Close()) })
		turn := begin(t, st, nil)
		require.NoError(t, turn.Say("an\u2028swer"))
		fails = true
		err = turn.End(t.Context())
		fails = false
		if err != nil {
			require.NoError(t, turn.End(t.Context()), at)
		}
		require.Equal(testenv.Lost(t), []string{"u ask", "a an\u2028swer"}, rows(t, st), fmt.Sprint(at, err))
		if _, failed := failer.Failed(); !failed {
			return
		}
	}
}

// TestRewoundInACall rewinds the session while a call runs: its result is not stored.
func TestRewoundInACall(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	turn := begin(t, st, nil)
	require.NoError(t, turn.Step(t.Context(), calls(t, "c1")))
	row, err := turn.Call(t.Context(), sessionstore.ToolCall{ID: "c1"}, func(ctx context.Context, c sessionstore.ToolCall) (sessionstore.Message, error) {
		s, err := st.Load(ctx, id)
		require.NoError(t, err)
		_, err = st.Replace(ctx, id, s.Revision, s.Messages[:0])
		require.NoError(t, err)
		require.NoError(t, st.Append(ctx, id, text(t, "user", "another")))
		return result(ctx, c)
	})
	require.ErrorIs(t, err, ErrGone)
	require.Equal(t, "ran", row.Content())
	require.Equal(t, []string{"u another"}, rows(t, st))
}

// killer ends all operations on the disk from one on, as a kill does.
type killer struct {
	crashsim.Failer
	armed bool
}

func (k *killer) before(op seam.Op) error {
	if !k.armed {
		return nil
	}
	if _, failed := k.Failed(); failed {
		return syscall.EIO
	}
	return k.Before(op)
}

// TestKilledWithADraft kills between the operations of what a turn does while it has a draft: the
// draft is there.
func TestKilledWithADraft(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(*testing.T, *Turn) error{
		"a call": func(t *testing.T, turn *Turn) error {
			_, err := turn.Call(t.Context(), sessionstore.ToolCall{ID: "c1"}, result)
			return err
		},
		"the former answer, said again": func(t *testing.T, turn *Turn) error {
			return errors.Join(turn.Say("secret half and "), turn.flush())
		},
		"the end": func(t *testing.T, turn *Turn) error { return turn.End(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for at := 0; ; at++ {
				k := &killer{Failer: crashsim.Failer{At: at, Err: syscall.EIO}}
				st := newStore(t, &seam.Seam{Before: k.before})
				turn := begin(t, st, nil)
				require.NoError(t, turn.Step(t.Context(), calls(t, "c1", "c2")))
				require.NoError(t, turn.Say("secret half"))
				require.NoError(t, turn.Close())
				turn, err := Resume(t.Context(), st, id, nil)
				require.NoError(t, err)
				if name == "the end" {
					require.NoError(t, turn.Say("secret half"))
				}
				k.armed = true
				err = do(t, turn)
				after := again(t, st)
				d, stored := draftOf(t, after, id), rows(t, after)
				if answer := stored[len(stored)-1]; answer != "a secret half" {
					require.True(testenv.Lost(t), strings.HasPrefix(d.Text, "secret half"), "%d: %v: %q after %v", at, err, d, stored)
				} else {
					require.Zero(testenv.Lost(t), d, at)
				}
				k.armed = false
				_ = turn.Close() // it may tell of the draft that could not be written
				if _, failed := k.Failed(); !failed {
					return
				}
			}
		})
	}
}

// TestDraftOfManyCalls goes on with a draft over results, those of an earlier process too, and has
// none once one of them is taken away.
func TestDraftOfManyCalls(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	turn := begin(t, st, nil)
	require.NoError(t, turn.Step(t.Context(), calls(t, "c1", "c2", "c3")))
	said := ""
	for _, c := range []string{"c1", "c2", "c3"} {
		require.NoError(t, turn.Say(c))
		require.NoError(t, turn.flush())
		said += c
		_, err := turn.Call(t.Context(), sessionstore.ToolCall{ID: c}, result)
		require.NoError(t, err)
		require.Equal(t, said, draftOf(t, again(t, st), id).Text)
		require.NoError(t, turn.Close())
		turn, err = Resume(t.Context(), st, id, nil)
		require.NoError(t, err)
		require.NoError(t, turn.Say(said))
	}
	require.NoError(t, turn.Say("!"))
	require.NoError(t, turn.Close())
	require.Equal(t, said+"!", draftOf(t, again(t, st), id).Text)
	s, err := st.Load(t.Context(), id)
	require.NoError(t, err)
	_, err = st.Replace(t.Context(), id, s.Revision, s.Messages[:4])
	require.NoError(t, err)
	require.Zero(testenv.Lost(t), draftOf(t, st, id))
}

// TestDraftAfterARowIsTakenAway takes the result away that a draft goes on after.
func TestDraftAfterARowIsTakenAway(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	turn := begin(t, st, nil)
	require.NoError(t, turn.Step(t.Context(), calls(t, "c1", "c2")))
	require.NoError(t, turn.Say("before"))
	require.NoError(t, turn.flush())
	_, err := turn.Call(t.Context(), sessionstore.ToolCall{ID: "c1"}, result)
	require.NoError(t, err)
	require.NoError(t, turn.Say(", after"))
	require.NoError(t, turn.Close())
	require.Equal(t, "before, after", draftOf(t, st, id).Text)
	s, err := st.Load(t.Context(), id)
	require.NoError(t, err)
	_, err = st.Replace(t.Context(), id, s.Revision, s.Messages[:2])
	require.NoError(t, err)
	require.Zero(t, draftOf(t, st, id))
}

// TestEndDuringACall ends and closes a turn while a call runs, and calls after that.
func TestEndDuringACall(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	turn := begin(t, st, nil)
	require.NoError(t, turn.Step(t.Context(), calls(t, "c1", "c2")))
	require.NoError(t, turn.Say("half"))
	_, err := turn.Call(t.Context(), sessionstore.ToolCall{ID: "c1"}, func(ctx context.Context, c sessionstore.ToolCall) (sessionstore.Message, error) {
		require.ErrorContains(t, turn.End(ctx), "under way")
		return result(ctx, c)
	})
	require.NoError(t, err)
	row, err := turn.Call(t.Context(), sessionstore.ToolCall{ID: "c2"}, func(ctx context.Context, c sessionstore.ToolCall) (sessionstore.Message, error) {
		require.NoError(t, turn.Close())
		return result(ctx, c)
	})
	require.ErrorIs(t, err, sessionstore.ErrClosed)
	require.Equal(t, "ran", row.Content())
	require.Equal(t, []string{"u ask", "a ", "t ran"}, rows(t, st))
	require.Equal(t, "half", draftOf(t, st, id).Text)

	turn, err = Resume(t.Context(), st, id, nil)
	require.NoError(t, err)
	require.NoError(t, turn.Step(t.Context(), calls(t, "c3")))
	require.NoError(t, turn.Close())
	_, err = turn.Call(t.Context(), sessionstore.ToolCall{ID: "c3"}, func(context.Context, sessionstore.ToolCall) (m sessionstore.Message, err error) {
		require.Fail(t, "it ran for a turn that was closed")
		return m, err
	})
	require.ErrorIs(t, err, sessionstore.ErrClosed)
	require.Equal(t, "t "+unknownResult, rows(t, st)[3])
}

// TestArchiveBringsNoDraft reads an archive that somebody put a draft into.
func TestArchiveBringsNoDraft(t *testing.T) {
	t.Parallel()
	st, other := newStore(t, nil), newStore(t, nil)
	interrupted(t, st)
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, name := range []string{"metadata.json", "transcript.jsonl", ".draft.jsonl", "..draft.jsonl7"} {
		raw, err := os.ReadFile(filepath.Join(st.Dir(), id, strings.Replace(name, "..draft.jsonl7", ".draft.jsonl", 1)))
		require.NoError(t, err)
		require.NoError(t, w.WriteHeader(&tar.Header{Name: id + "/" + name, Size: int64(len(raw)), Mode: 0o600, ModTime: time.Now(), Typeflag: tar.TypeReg}))
		_, err = w.Write(raw)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	_, err := archive.Read(t.Context(), &out, other, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"u ask"}, rows(t, other))
	require.NoFileExists(t, draftPath(other, id))
	require.NoFileExists(t, filepath.Join(other.Dir(), id, "..draft.jsonl7"))
}

// TestPortable has a prompt and a result that are stored in other bytes than they are given.
func TestPortable(t *testing.T) {
	t.Parallel()
	st, err := sessionstore.Open(t.TempDir(), &sessionstore.Options{Portable: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	turn, err := Begin(t.Context(), st, id, text(t, "user", "a\u2028b"), nil)
	require.NoError(t, err)
	require.NoError(t, turn.Step(t.Context(), calls(t, "c1")))
	s, err := st.Load(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, s.Messages[0].AppendTo(nil), turn.Prompt().AppendTo(nil))
	require.NoError(t, errors.Join(turn.Say("meanwhile"), turn.flush()))
	_, err = turn.Call(t.Context(), sessionstore.ToolCall{ID: "c1"}, func(context.Context, sessionstore.ToolCall) (sessionstore.Message, error) {
		return sessionstore.ToolResult("c1", "bash", "a\u2028b", time.Unix(0, 0))
	})
	require.NoError(t, err)
	require.Equal(t, Draft{1, "meanwhile", ""}, draftOf(t, st, id))
	require.NoError(t, turn.Close())
}
