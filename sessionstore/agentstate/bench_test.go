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
