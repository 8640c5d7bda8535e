package agentstate

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// filled returns a state with n items of 1 KB, and the operations on the disk.
func filled(t testing.TB, n int) (*State, *[]seam.Op) {
	t.Helper()
	var ops []seam.Op
	st := newStore(t, &seam.Seam{After: func(op seam.Op) {
		if len(ops) < 1000 {
			op.Off, op.Data = int64(len(op.Data)), nil
			ops = append(ops, op)
		}
	}})
	line := `{"text": "` + strings.Repeat("x", 1000) + `"}` + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(st.Dir(), id, historyFile), []byte(strings.Repeat(line, n)), 0o600))
	s, err := Open(st, id, nil)
	require.NoError(t, err)
	require.NoError(t, s.RecordItems(t.Context(), items(`{"type": "a"}`)...))
	ops = nil
	return s, &ops
}

// TestCostOfAnItem holds that recording an item costs as much in a long
// history as in a short one.
func TestCostOfAnItem(t *testing.T) {
	t.Parallel()
	cost := func(n int) (kinds []string, written int64) {
		s, ops := filled(t, n)
		require.NoError(t, s.RecordItems(t.Context(), items(`{"role": "user"}`)...))
		for _, op := range *ops {
			kinds = append(kinds, op.Kind.String())
			if op.Kind == seam.Write {
				written += op.Off
			}
		}
		return kinds, written
	}
	short, few := cost(10)
	long, many := cost(20_000)
	require.Equal(t, short, long)
	require.Equal(t, few, many)
	require.Less(t, many, int64(300))
}

// TestCostOfTheThousandthApproval holds what an approval writes after 999 calls of 2 KB ran,
// also when an earlier version stored them.
func TestCostOfTheThousandthApproval(t *testing.T) {
	t.Parallel()
	name := func(n int) string { return fmt.Sprintf("toolu_%024d", n) }
	call := json.RawMessage(`{"content": "` + strings.Repeat("x", 2000) + `"}`)
	for former, before := range map[string]func(s *State){
		"this version": func(s *State) {
			for n := range 999 {
				approve(t, s, name(n))
				require.NoError(t, s.Claim(t.Context(), name(n), callOf(name(n))))
			}
		},
		"an earlier version": func(s *State) {
			var all []string
			for n := range 999 {
				all = append(all, fmt.Sprintf(`{"id": %q, "digest": %q, "call": %s, "verdict": "ran"}`, name(n), digest(call), call))
			}
			write(t, s, pendingFile, `{"v": 1, "approvals": [`+strings.Join(all, ", ")+"]}\n")
		},
	} {
		t.Run(former, func(t *testing.T) {
			t.Parallel()
			written := 0
			st := newStore(t, &seam.Seam{After: func(op seam.Op) {
				if op.Kind == seam.Write {
					written += len(op.Data)
				}
			}})
			s, err := Open(st, id, &Options{Durability: sessionstore.Relaxed})
			require.NoError(t, err)
			before(s)
			written = 0
			require.NoError(t, s.KeepPending(t.Context(), name(999), call))
			require.NoError(t, s.Decide(t.Context(), name(999), Approved))
			require.NoError(t, s.Claim(t.Context(), name(999), call))
			require.Less(t, written, 200_000)
			list, err := s.Approvals(t.Context())
			require.NoError(t, err)
			require.Len(t, list, 1000)
			for n, k := range list {
				require.Equal(t, name(n), k.ID)
				require.Equal(testenv.Lost(t), Ran, k.Verdict, k.ID)
			}
		})
	}
}

func BenchmarkRecordItems(b *testing.B) {
	for _, n := range []int{0, 1000, 50_000} {
		b.Run(fmt.Sprintf("items=%d/sync=true", n), func(b *testing.B) {
			s, _ := filled(b, n)
			item := json.RawMessage(`{"text": "` + strings.Repeat("x", 1000) + `"}`)
			b.ReportAllocs()
			b.SetBytes(int64(len(item)))
			for b.Loop() {
				if err := s.RecordItems(b.Context(), item); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAddTokenUsage(b *testing.B) {
	for _, sync := range []bool{true, false} {
		b.Run(fmt.Sprintf("sync=%t", sync), func(b *testing.B) {
			st := newStore(b, nil)
			o := Options{}
			if !sync {
				o.Durability = sessionstore.Relaxed
			}
			s, err := Open(st, id, &o)
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				if err := s.AddTokenUsage(b.Context(), 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
